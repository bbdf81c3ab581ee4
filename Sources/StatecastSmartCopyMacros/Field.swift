#if SmartCopy
    import SwiftSyntax

    /// A stored property that an initializer can give a value.
    struct Field {
        /// The name as written, with its backticks if it has any.
        let name: TokenSyntax
        let type: FieldType
        let access: AccessLevel

        /// The name as the label of an argument. The compiler warns of backticks that a label does not need.
        var label: String {
            guard let bare = name.identifier?.name, bare.isWord, !["inout", "let", "var"].contains(bare) else {
                return name.text
            }
            return bare
        }

        /// Compares without backticks.
        func isLabelled(_ label: TokenSyntax) -> Bool {
            name.identifier == label.identifier
        }
    }

    /// A field's type as the source spells it.
    struct FieldType {
        let spelling: String
        /// The wrapped type, if the spelling is that of an optional.
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
                return "StatecastSmartCopy.OptionalChange<\(wrapped)> = .keep"
            }
            return needsParentheses ? "(\(spelling))? = nil" : "\(spelling)? = nil"
        }

        /// The type of a parameter for the whole value. A stored function escapes.
        var initializerParameter: String {
            isFunction ? "@escaping \(spelling)" : spelling
        }

        private let needsParentheses: Bool
        private let isFunction: Bool
    }

    extension TypeSyntax {
        /// `T` of `T?`, `T!`, `Optional<T>` and `Swift.Optional<T>`, with or without parentheses.
        fileprivate var optionalPayload: TypeSyntax? {
            switch self.as(TypeSyntaxEnum.self) {
            case .optionalType(let type):
                return type.wrappedType
            case .implicitlyUnwrappedOptionalType(let type):
                return type.wrappedType
            case .identifierType(let type) where type.name.text == "Optional":
                return type.genericArgumentClause?.onlyType
            case .memberType(let type)
            where type.name.text == "Optional" && type.baseType.trimmedDescription == "Swift":
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

    extension String {
        /// Whether this has only letters, digits and underscores. A raw identifier may hold anything between its
        /// backticks.
        fileprivate var isWord: Bool {
            first?.isNumber == false && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        }
    }
#endif
