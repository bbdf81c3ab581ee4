#if SmartCopy
    import SwiftCompilerPlugin
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxBuilder
    import SwiftSyntaxMacros

    /// Expands `@SmartCopy`: reads the struct's fields, finds the initializer to call, writes `copy`.
    ///
    /// It reports all problems at once, each at its place, and then generates nothing: a `copy` that leaves out a field
    /// would compile and lose data.
    struct SmartCopyMacro: MemberMacro {
        static func expansion(
            of attribute: AttributeSyntax,
            providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let structure = declaration.as(StructDeclSyntax.self) else {
                context.diagnose(Diagnostic(node: attribute, message: SmartCopyError.notAStruct(declaration.noun)))
                return []
            }
            let access = AccessLevel(of: structure, in: context.lexicalContext)
            let stored = StoredFields(of: structure.memberBlock)
            guard stored.problems.isEmpty else {
                stored.problems.forEach(context.diagnose)
                return []
            }
            guard stored.fields.contains(where: { $0.access >= access }) else {
                let error: SmartCopyError = stored.fields.isEmpty ? .noFields : .noVisibleFields(access)
                context.diagnose(Diagnostic(node: attribute, message: error))
                return []
            }
            guard let initializer = CopyInitializer(for: stored.fields, in: structure.memberBlock) else {
                context.diagnose(
                    .missingInitializer(for: stored.fields, of: structure, access: access, at: attribute)
                )
                return []
            }
            return [copyFunction(of: stored.fields, access: access, calling: initializer)]
        }
    }

    /// The declaration of `copy`.
    ///
    /// A field that is less visible than the struct has no parameter: the copy keeps its value.
    private func copyFunction(
        of fields: [Field],
        access: AccessLevel,
        calling initializer: CopyInitializer
    ) -> DeclSyntax {
        let open = fields.filter { $0.access >= access }
        let parameters = open.map { "    \($0.name): \($0.type.parameter)" }
        let arguments = initializer.fields.map { field in
            "        \(field.label): \(field.access >= access ? field.changed : "self.\(field.name)")"
        }
        return """
            /// A copy in which the fields given here have new values and all others keep theirs.
            \(raw: access.prefix)func copy(
            \(raw: parameters.joined(separator: ",\n"))
            ) -> Self {
                Self(
            \(raw: arguments.joined(separator: ",\n"))
                )
            }
            """
    }

    /// The initializer that `copy` calls: the memberwise one, or one of the struct's own.
    private struct CopyInitializer {
        /// The fields in the order of the initializer's parameters.
        let fields: [Field]

        /// Returns nil if the struct's own initializers replace the memberwise one and none of them has every field.
        init?(for fields: [Field], in members: MemberBlockSyntax) {
            let own = members.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
            guard !own.isEmpty else {
                self.fields = fields
                return
            }
            guard let ordered = own.lazy.compactMap({ $0.ordering(fields) }).first else { return nil }
            self.fields = ordered
        }
    }

    extension InitializerDeclSyntax {
        /// The fields in the order of the parameters; nil unless each has one and all other parameters have defaults.
        fileprivate func ordering(_ fields: [Field]) -> [Field]? {
            guard optionalMark == nil, signature.effectSpecifiers == nil else { return nil }
            var ordered: [Field] = []
            for parameter in signature.parameterClause.parameters {
                if let field = fields.first(where: { $0.isLabelled(parameter.firstName) }) {
                    ordered.append(field)
                } else if parameter.defaultValue == nil, parameter.ellipsis == nil {
                    return nil
                }
            }
            return ordered.count == fields.count ? ordered : nil
        }
    }

    extension Field {
        /// The field's value after the change that the parameter of the same name requests.
        fileprivate var changed: String {
            type.wrapped == nil ? "\(name) ?? self.\(name)" : "\(name).applied(to: self.\(name))"
        }
    }

    extension DeclGroupSyntax {
        /// The kind of declaration, for a message.
        fileprivate var noun: String {
            switch kind {
            case .classDecl: "a class"
            case .actorDecl: "an actor"
            case .enumDecl: "an enum"
            case .protocolDecl: "a protocol"
            case .extensionDecl: "an extension"
            default: "this declaration"
            }
        }
    }

    /// The compiler plug-in.
    @main
    struct SmartCopyPlugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [SmartCopyMacro.self]
    }
#else
    /// Replaces the plug-in in a build without the trait. The compiler never starts it.
    @main
    struct SmartCopyPlugin {
        static func main() {}
    }
#endif
