import SwiftSyntax

/// A field's type as it is spelled, and whether that spells an optional.
struct FieldType {
    /// The whole type.
    let spelling: String
    /// What the optional wraps, if the type is one.
    let wrapped: String?

    init(_ type: TypeSyntax) {
        spelling = type.trimmedDescription
        wrapped = type.optionalPayload?.trimmedDescription
        needsParentheses = !type.takesQuestionMark
        isFunction = type.isFunction
    }

    /// A type of the standard library that a literal implies.
    init(named name: String) {
        spelling = name
        wrapped = nil
        needsParentheses = false
        isFunction = false
    }

    /// The type of the parameter of `copy`, with its default.
    var parameter: String {
        if let wrapped {
            return "SmartCopy.OptionalChange<\(wrapped)> = .keep"
        }
        return needsParentheses ? "(\(spelling))? = nil" : "\(spelling)? = nil"
    }

    /// The type of a parameter that takes the whole value. A function that is stored has to be said to escape.
    var initializerParameter: String {
        isFunction ? "@escaping \(spelling)" : spelling
    }

    private let needsParentheses: Bool
    private let isFunction: Bool
}

extension TypeSyntax {
    /// `T` of `T?`, `T!`, `Optional<T>` and `Swift.Optional<T>`, parentheses around any of them or not.
    fileprivate var optionalPayload: TypeSyntax? {
        switch self.as(TypeSyntaxEnum.self) {
        case .optionalType(let type):
            return type.wrappedType
        case .implicitlyUnwrappedOptionalType(let type):
            return type.wrappedType
        case .identifierType(let type) where type.name.text == "Optional":
            return type.genericArgumentClause?.onlyType
        case .memberType(let type) where type.name.text == "Optional" && type.baseType.trimmedDescription == "Swift":
            return type.genericArgumentClause?.onlyType
        case .tupleType(let tuple):
            guard let element = tuple.elements.first, tuple.elements.count == 1, element.firstName == nil else {
                return nil
            }
            return element.type.optionalPayload
        default:
            return nil
        }
    }

    /// `() -> Void` and `@Sendable () -> Void`.
    fileprivate var isFunction: Bool {
        let bare = self.as(AttributedTypeSyntax.self)?.baseType ?? self
        return bare.is(FunctionTypeSyntax.self)
    }

    /// Whether `T?` means an optional of the whole: `any P?` and `() -> Int?` do not.
    fileprivate var takesQuestionMark: Bool {
        switch self.as(TypeSyntaxEnum.self) {
        case .identifierType, .memberType, .arrayType, .dictionaryType, .tupleType: true
        default: false
        }
    }
}

extension GenericArgumentClauseSyntax {
    fileprivate var onlyType: TypeSyntax? {
        guard arguments.count == 1, case .type(let type)? = arguments.first?.argument else { return nil }
        return type
    }
}
