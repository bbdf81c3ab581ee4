import SwiftSyntax

/// Who may see a declaration, from the narrowest to the widest.
enum Visibility: Int, Comparable {
    case `private`, `fileprivate`, `internal`, package, `public`

    /// The one written among the modifiers, if any. `private(set)` speaks of writing only.
    init?(writtenIn modifiers: DeclModifierListSyntax) {
        for modifier in modifiers where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.private): self = .private
            case .keyword(.fileprivate): self = .fileprivate
            case .keyword(.internal): self = .internal
            case .keyword(.package): self = .package
            case .keyword(.public), .keyword(.open): self = .public
            default: continue
            }
            return
        }
        return nil
    }

    /// That of the members of a struct which are meant for everybody who sees the struct.
    ///
    /// A private struct is seen by whatever surrounds it, while a private member would be seen by the struct alone: so
    /// nothing below `fileprivate` comes out. An extension lends its modifier to what is declared in it.
    init(of structure: StructDeclSyntax, in lexicalContext: [Syntax]) {
        let surroundings = lexicalContext.first?.as(ExtensionDeclSyntax.self)
        let written =
            Visibility(writtenIn: structure.modifiers)
            ?? surroundings.flatMap { Visibility(writtenIn: $0.modifiers) }
        self = max(written ?? .internal, .fileprivate)
    }

    /// That of a property: internal unless it says otherwise.
    init(of property: VariableDeclSyntax) {
        self = Visibility(writtenIn: property.modifiers) ?? .internal
    }

    /// As it stands before a declaration, with its space; nothing where the language says it by itself.
    var prefix: String {
        self == .internal ? "" : "\(self) "
    }

    static func < (left: Visibility, right: Visibility) -> Bool {
        left.rawValue < right.rawValue
    }
}
