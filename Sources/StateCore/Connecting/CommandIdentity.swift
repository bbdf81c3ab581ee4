/// Who a command is.
enum CommandIdentity: Sendable {
    /// Differs from all others.
    final class Unique: Sendable {}

    case named(any Hashable & Sendable)
    case unique(Unique)
}

extension CommandIdentity: Hashable {
    static func == (left: CommandIdentity, right: CommandIdentity) -> Bool {
        switch (left, right) {
        // Of one type: by value alone, 1 would also be UInt8(1) and 1.0.
        case (.named(let left), .named(let right)):
            type(of: left) == type(of: right) && AnyHashable(left) == AnyHashable(right)
        case (.unique(let left), .unique(let right)): left === right
        case (.named, .unique), (.unique, .named): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .named(let id): hasher.combine(AnyHashable(id))
        case .unique(let unique): hasher.combine(ObjectIdentifier(unique))
        }
    }
}
