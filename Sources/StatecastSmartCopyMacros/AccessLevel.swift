#if SmartCopy
    import SwiftSyntax

    /// The access level of a declaration, from the narrowest to the widest.
    enum AccessLevel: Int, Comparable {
        case `private`, `fileprivate`, `internal`, package, `public`

        /// The level among the modifiers, if any. `private(set)` restricts writing only.
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

        /// The level of a struct's member that is as visible as the struct.
        ///
        /// Never below `fileprivate`: the scope around a private struct sees the struct, but not its private members. A
        /// struct in an extension inherits the extension's modifier.
        init(of structure: StructDeclSyntax, in lexicalContext: [Syntax]) {
            let surroundings = lexicalContext.first?.as(ExtensionDeclSyntax.self)
            let written =
                AccessLevel(writtenIn: structure.modifiers)
                ?? surroundings.flatMap { AccessLevel(writtenIn: $0.modifiers) }
            self = max(written ?? .internal, .fileprivate)
        }

        /// The level of a property: internal unless it has a modifier.
        init(of property: VariableDeclSyntax) {
            self = AccessLevel(writtenIn: property.modifiers) ?? .internal
        }

        /// The modifier with a space, to precede a declaration; empty for `internal`, the default.
        var prefix: String {
            self == .internal ? "" : "\(self) "
        }

        static func < (left: AccessLevel, right: AccessLevel) -> Bool {
            left.rawValue < right.rawValue
        }
    }
#endif
