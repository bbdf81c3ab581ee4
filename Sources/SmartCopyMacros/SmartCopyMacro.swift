import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Expands `@SmartCopy`: reads the struct's fields, finds the initializer to call, writes `copy`.
///
/// All that is wrong is reported at once, each at its place, and then nothing is generated: a `copy` that leaves out a
/// field would compile and lose data.
struct SmartCopyMacro: MemberMacro {
    static func expansion(
        of attribute: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            context.diagnose(Diagnostic(node: attribute, message: Refusal.notAStruct(declaration.noun)))
            return []
        }
        let visibility = Visibility(of: structure, in: context.lexicalContext)
        let survey = FieldSurvey(of: structure.memberBlock)
        guard survey.refusals.isEmpty else {
            survey.refusals.forEach(context.diagnose)
            return []
        }
        guard survey.fields.contains(where: { $0.visibility >= visibility }) else {
            let refusal: Refusal = survey.fields.isEmpty ? .noFields : .noVisibleFields(visibility)
            context.diagnose(Diagnostic(node: attribute, message: refusal))
            return []
        }
        guard let initializer = CopyInitializer(for: survey.fields, in: structure.memberBlock) else {
            context.diagnose(
                .missingInitializer(for: survey.fields, of: structure, visibility: visibility, at: attribute)
            )
            return []
        }
        return [copyFunction(of: survey.fields, visibility: visibility, calling: initializer)]
    }
}

extension DeclGroupSyntax {
    /// What a person would call this declaration.
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
