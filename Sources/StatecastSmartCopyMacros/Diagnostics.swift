#if SmartCopy
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxBuilder

    /// The reason why `@SmartCopy` does not expand, and the remedy.
    enum SmartCopyError: DiagnosticMessage {
        case notAStruct(String)
        case noFields
        case noVisibleFields(AccessLevel)
        case missingInitializer(String)
        case mayBeWrapper(String)
        case tuplePattern
        case missingType(String)
        case opaqueType
        case initAccessor
        case conditionalFields

        var severity: DiagnosticSeverity { .error }

        var diagnosticID: MessageID { MessageID(domain: "SmartCopy", id: id) }

        var message: String {
            switch self {
            case .notAStruct(let noun):
                "@SmartCopy needs a struct, and this is \(noun): only a struct has a memberwise initializer"
            case .noFields:
                "@SmartCopy found no stored property that an initializer can set: there is nothing to copy with a "
                    + "change"
            case .noVisibleFields(let access):
                """
                @SmartCopy found no stored property as visible as the struct: copy() would be \(access) and have no \
                parameters; make the properties that it shall change \(access)
                """
            case .missingInitializer(let needed):
                """
                @SmartCopy needs '\(needed)': the initializers in this struct replace the memberwise one; add it, or \
                move them to an extension
                """
            case .mayBeWrapper(let attribute):
                """
                @SmartCopy cannot copy a property with '\(attribute)', which may be a property wrapper: a copy would \
                create a new wrapper without the state of the old one
                """
            case .tuplePattern:
                "@SmartCopy cannot copy a tuple pattern: declare each property separately"
            case .missingType(let name):
                "@SmartCopy cannot infer the type of '\(name)' from its value: write the type"
            case .opaqueType:
                "@SmartCopy cannot copy a property of a 'some' type, since no parameter can have the same one: name "
                    + "the type"
            case .initAccessor:
                "@SmartCopy cannot copy a property with an init accessor, which sets other properties"
            case .conditionalFields:
                """
                @SmartCopy cannot determine which branch of '#if' is compiled: move the stored properties and \
                initializers out of it
                """
            }
        }

        private var id: String {
            switch self {
            case .notAStruct: "not-a-struct"
            case .noFields: "no-fields"
            case .noVisibleFields: "no-visible-fields"
            case .missingInitializer: "missing-initializer"
            case .mayBeWrapper: "may-be-wrapper"
            case .tuplePattern: "tuple-pattern"
            case .missingType: "missing-type"
            case .opaqueType: "opaque-type"
            case .initAccessor: "init-accessor"
            case .conditionalFields: "conditional-fields"
            }
        }
    }

    /// A change to the source that removes the reason of an error.
    enum SmartCopyFixIt: String, FixItMessage {
        case writeType = "write the type"
        case addInitializer = "add an initializer with every field"

        var message: String { rawValue }

        var fixItID: MessageID { MessageID(domain: "SmartCopy", id: "\(self)") }
    }

    extension Diagnostic {
        /// The error of a `var` whose type only the type checker can infer; the fix-it inserts a placeholder for the
        /// type.
        static func missingType(of binding: PatternBindingSyntax) -> Diagnostic {
            let annotation = TypeAnnotationSyntax(
                colon: .colonToken(trailingTrivia: .space),
                type: IdentifierTypeSyntax(name: .identifier("<#Type#>")),
                trailingTrivia: binding.pattern.trailingTrivia
            )
            let typed = binding.with(\.pattern.trailingTrivia, []).with(\.typeAnnotation, annotation)
            return Diagnostic(
                node: binding.pattern,
                message: SmartCopyError.missingType(binding.pattern.trimmedDescription),
                fixIt: .replace(message: SmartCopyFixIt.writeType, oldNode: binding, newNode: typed)
            )
        }

        /// The error of a struct without a memberwise initializer; the fix-it appends one to the body, as visible as
        /// its narrowest field, like the memberwise one.
        static func missingInitializer(
            for fields: [Field],
            of structure: StructDeclSyntax,
            access: AccessLevel,
            at attribute: AttributeSyntax
        ) -> Diagnostic {
            let parameters = fields.map { "\($0.name): \($0.type.initializerParameter)" }.joined(separator: ", ")
            let needed = "init(\(parameters))"
            let assignments = fields.map { "        self.\($0.name) = \($0.name)" }.joined(separator: "\n")
            let narrowest = fields.map(\.access).reduce(access, min)
            let written: DeclSyntax = """
                \(raw: narrowest.prefix)\(raw: needed) {
                \(raw: assignments)
                    }
                """
            let member = MemberBlockItemSyntax(
                leadingTrivia: [.newlines(2), .spaces(4)],
                decl: written
            )
            var completed = structure.memberBlock
            completed.members.append(member)
            return Diagnostic(
                node: attribute,
                message: SmartCopyError.missingInitializer(needed),
                fixIt: .replace(
                    message: SmartCopyFixIt.addInitializer,
                    oldNode: structure.memberBlock,
                    newNode: completed
                )
            )
        }
    }
#endif
