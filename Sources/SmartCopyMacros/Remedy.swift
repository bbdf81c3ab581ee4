import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A change to the source that removes the reason of a refusal.
enum Remedy: String, FixItMessage {
    case writeType = "write the type"
    case addInitializer = "add an initializer that takes every field"

    var message: String { rawValue }

    var fixItID: MessageID { MessageID(domain: "SmartCopy", id: "\(self)") }
}

extension Diagnostic {
    /// A `var` whose type only the type checker knows; the fix-it leaves a place to write it.
    static func missingType(of binding: PatternBindingSyntax) -> Diagnostic {
        let annotation = TypeAnnotationSyntax(
            colon: .colonToken(trailingTrivia: .space),
            type: IdentifierTypeSyntax(name: .identifier("<#Type#>")),
            trailingTrivia: binding.pattern.trailingTrivia
        )
        let typed = binding.with(\.pattern.trailingTrivia, []).with(\.typeAnnotation, annotation)
        return Diagnostic(
            node: binding.pattern,
            message: Refusal.missingType(binding.pattern.trimmedDescription),
            fixIt: .replace(message: Remedy.writeType, oldNode: binding, newNode: typed)
        )
    }

    /// A struct that lost its memberwise initializer; the fix-it writes it out at the end of the body, as
    /// visible as its narrowest field, like the memberwise one.
    static func missingInitializer(
        for fields: [Field],
        of structure: StructDeclSyntax,
        visibility: Visibility,
        at attribute: AttributeSyntax
    ) -> Diagnostic {
        let parameters = fields.map { "\($0.name): \($0.type.initializerParameter)" }.joined(separator: ", ")
        let needed = "init(\(parameters))"
        let assignments = fields.map { "        self.\($0.name) = \($0.name)" }.joined(separator: "\n")
        let narrowest = fields.map(\.visibility).reduce(visibility, min)
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
            message: Refusal.missingInitializer(needed),
            fixIt: .replace(message: Remedy.addInitializer, oldNode: structure.memberBlock, newNode: completed)
        )
    }
}
