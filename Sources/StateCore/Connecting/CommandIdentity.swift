/// Who a command is.
enum CommandIdentity: Sendable {
    /// Differs from all others.
    final class Unique: Sendable {}

    case named(AnyID)
    case unique(Unique)
}

extension CommandIdentity: Hashable {
    static func == (left: CommandIdentity, right: CommandIdentity) -> Bool {
        switch (left, right) {
        case (.named(let left), .named(let right)): left == right
        case (.unique(let left), .unique(let right)): left === right
        case (.named, .unique), (.unique, .named): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .named(let id): hasher.combine(id)
        case .unique(let unique): hasher.combine(ObjectIdentifier(unique))
        }
    }
}
