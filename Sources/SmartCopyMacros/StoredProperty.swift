import SwiftSyntax

// What the survey asks of a property declaration. Macros see text: each answer is what the text alone says.

extension VariableDeclSyntax {
    /// Neither static nor lazy, whose value is made later and is not an initializer's to give.
    var isInstanceStorage: Bool {
        !modifiers.contains { modifier in
            [.keyword(.static), .keyword(.class), .keyword(.lazy)].contains(modifier.name.tokenKind)
        }
    }

    var isConstant: Bool {
        bindingSpecifier.tokenKind == .keyword(.let)
    }

    /// Each binding with its type: in `let a, b: Int` the one that is written last holds for both.
    var bindingsWithAnnotations: [(PatternBindingSyntax, TypeSyntax?)] {
        var shared: TypeSyntax?
        var reversed: [(PatternBindingSyntax, TypeSyntax?)] = []
        for binding in bindings.reversed() {
            if let written = binding.typeAnnotation?.type {
                shared = written
            } else if binding.initializer != nil || binding.accessorBlock != nil {
                shared = nil
            }
            reversed.append((binding, shared))
        }
        return reversed.reversed()
    }
}

extension PatternBindingSyntax {
    /// Observers watch storage; every other accessor stands in for it.
    var isComputed: Bool {
        guard let accessorBlock, !hasInitAccessor else { return false }
        guard case .accessors(let accessors) = accessorBlock.accessors else { return true }
        return !accessors.allSatisfy { accessor in
            [.keyword(.willSet), .keyword(.didSet)].contains(accessor.accessorSpecifier.tokenKind)
        }
    }

    /// An init accessor takes the place of the storage behind it in the memberwise initializer.
    var hasInitAccessor: Bool {
        guard case .accessors(let accessors)? = accessorBlock?.accessors else { return false }
        return accessors.contains { $0.accessorSpecifier.tokenKind == .keyword(.`init`) }
    }
}

extension AttributeListSyntax.Element {
    /// Whether this may be a property wrapper: all but the attributes of the language itself may.
    var mayWrapStorage: Bool {
        guard case .attribute(let attribute) = self else { return true }
        return !AttributeListSyntax.harmlessNames.contains(attribute.attributeName.trimmedDescription)
    }
}

extension AttributeListSyntax {
    fileprivate static let harmlessNames: Set<String> = [
        "MainActor", "_spi", "available", "nonobjc", "objc", "preconcurrency", "usableFromInline",
    ]
}

extension TypeSyntax {
    /// An opaque type cannot be named a second time, as a parameter would have to.
    var mentionsSome: Bool {
        tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.some) }
    }
}

extension ExprSyntax {
    /// The type that the language gives a plain literal; nil for any other expression.
    var impliedTypeName: String? {
        switch self.as(ExprSyntaxEnum.self) {
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .booleanLiteralExpr: "Bool"
        case .stringLiteralExpr: "String"
        case .prefixOperatorExpr(let negation) where negation.operator.text == "-":
            negation.expression.isNumber ? negation.expression.impliedTypeName : nil
        default: nil
        }
    }

    private var isNumber: Bool {
        self.is(IntegerLiteralExprSyntax.self) || self.is(FloatLiteralExprSyntax.self)
    }
}

extension IfConfigDeclSyntax {
    /// Whether a field, or an initializer, is there or not depending on the condition.
    var decidesFields: Bool {
        clauses.contains { clause in
            guard case .decls(let members)? = clause.elements else { return false }
            return members.contains { member in
                if let nested = member.decl.as(IfConfigDeclSyntax.self) { return nested.decidesFields }
                if let property = member.decl.as(VariableDeclSyntax.self) {
                    return property.isInstanceStorage && property.bindings.contains { !$0.isComputed }
                }
                return member.decl.is(InitializerDeclSyntax.self)
            }
        }
    }
}
