#if SmartCopy
    import SwiftDiagnostics
    import SwiftSyntax

    /// The fields of a struct in order of declaration, and the problems that prevent copying them.
    struct StoredFields {
        private(set) var fields: [Field] = []
        private(set) var problems: [Diagnostic] = []

        init(of members: MemberBlockSyntax) {
            for member in members.members {
                if let property = member.decl.as(VariableDeclSyntax.self) {
                    read(property)
                } else if let condition = member.decl.as(IfConfigDeclSyntax.self), condition.decidesFields {
                    refuse(condition.clauses.first?.poundKeyword, because: .conditionalFields)
                }
            }
        }

        private mutating func read(_ property: VariableDeclSyntax) {
            guard property.isInstanceStorage else { return }
            if let attribute = property.attributes.first(where: \.mayWrapStorage) {
                return refuse(attribute, because: .mayBeWrapper(attribute.trimmedDescription))
            }
            for (binding, annotation) in property.bindingsWithAnnotations where !binding.isComputed {
                guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
                    refuse(binding.pattern, because: .tuplePattern)
                    continue
                }
                // No initializer can give another value to a constant that has one.
                if property.isConstant, binding.initializer != nil { continue }
                if let type = type(of: binding, annotation: annotation) {
                    fields.append(Field(name: name.trimmed, type: type, access: AccessLevel(of: property)))
                }
            }
        }

        private mutating func type(of binding: PatternBindingSyntax, annotation: TypeSyntax?) -> FieldType? {
            if binding.hasInitAccessor {
                refuse(binding.pattern, because: .initAccessor)
                return nil
            }
            if let annotation {
                guard !annotation.mentionsSome else {
                    refuse(annotation, because: .opaqueType)
                    return nil
                }
                return FieldType(annotation)
            }
            if let name = binding.initializer?.value.impliedTypeName {
                return FieldType(named: name)
            }
            problems.append(.missingType(of: binding))
            return nil
        }

        private mutating func refuse(_ node: (some SyntaxProtocol)?, because error: SmartCopyError) {
            guard let node else { return }
            problems.append(Diagnostic(node: node, message: error))
        }
    }

    extension VariableDeclSyntax {
        /// Whether an initializer can give the property a value: it is neither static nor lazy.
        fileprivate var isInstanceStorage: Bool {
            !modifiers.contains { modifier in
                [.keyword(.static), .keyword(.class), .keyword(.lazy)].contains(modifier.name.tokenKind)
            }
        }

        fileprivate var isConstant: Bool {
            bindingSpecifier.tokenKind == .keyword(.let)
        }

        /// Each binding with its type: in `let a, b: Int` both have the last one.
        fileprivate var bindingsWithAnnotations: [(PatternBindingSyntax, TypeSyntax?)] {
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
        /// Whether accessors replace the storage. Observers (`willSet`, `didSet`) do not.
        fileprivate var isComputed: Bool {
            guard let accessorBlock, !hasInitAccessor else { return false }
            guard case .accessors(let accessors) = accessorBlock.accessors else { return true }
            return !accessors.allSatisfy { accessor in
                [.keyword(.willSet), .keyword(.didSet)].contains(accessor.accessorSpecifier.tokenKind)
            }
        }

        /// An init accessor replaces other properties in the memberwise initializer.
        fileprivate var hasInitAccessor: Bool {
            guard case .accessors(let accessors)? = accessorBlock?.accessors else { return false }
            return accessors.contains { $0.accessorSpecifier.tokenKind == .keyword(.`init`) }
        }
    }

    extension AttributeListSyntax.Element {
        /// Whether this may be a property wrapper: any attribute may that the language does not define.
        fileprivate var mayWrapStorage: Bool {
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
        /// Whether this has an opaque type in it, which a parameter cannot name a second time.
        fileprivate var mentionsSome: Bool {
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
        /// Whether the condition decides about a field or an initializer.
        fileprivate var decidesFields: Bool {
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
#endif
