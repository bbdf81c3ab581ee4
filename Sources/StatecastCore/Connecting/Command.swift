/// A callback with an identity, so that props that contain it are equatable.
///
/// A command without an id equals only its copies: create it once and keep it, or else props that contain it differ at
/// each rendering. A command with an id equals every other with an equal id of the same type, so a connector may create
/// it anew each time.
///
/// ```swift
/// struct Props: Equatable {
///     var onRefuel: Command<Int>
/// }
/// Props(onRefuel: core.command(id: truck.id) { litres in RefuelRequested(truck: truck.id, litres: litres) })
/// ```
///
/// - Warning: The id must include everything that the callback depends on, such as a row or an amount. If two different
///   callbacks have equal ids, a component keeps the outdated one.
public struct Command<Value>: Sendable {
    private let identity: CommandIdentity
    private let body: @Sendable (Value) -> Void

    /// Creates a command that equals those with an equal id of the same type.
    public init(id: some Hashable & Sendable, _ body: @escaping @Sendable (_ value: Value) -> Void) {
        identity = .named(AnyID(id))
        self.body = body
    }

    /// Creates a command that equals only its copies.
    public init(_ body: @escaping @Sendable (_ value: Value) -> Void) {
        identity = .unique(CommandIdentity.Token())
        self.body = body
    }

    /// Executes the command.
    public func callAsFunction(_ value: Value) { body(value) }

    /// This command with a fixed value. Two are equal if their commands and values are equal.
    ///
    /// ```swift
    /// let onSelect: Command<Void> = props.onSelectRow.bound(to: row.id)
    /// ```
    public func bound(to value: Value) -> Command<Void> where Value: Hashable & Sendable {
        Command<Void>(id: BoundID(identity: identity, value: value)) { [body] in body(value) }
    }

    private struct BoundID<Argument: Hashable & Sendable>: Hashable, Sendable {
        let identity: CommandIdentity
        let value: Argument
    }
}

extension Command where Value == Void {
    /// Executes the command.
    public func callAsFunction() { callAsFunction(()) }
}

extension Command: Hashable {
    /// Whether the commands have the same identity.
    public static func == (left: Command, right: Command) -> Bool { left.identity == right.identity }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

private enum CommandIdentity: Hashable, Sendable {
    /// Equals only itself.
    final class Token: Hashable, Sendable {
        static func == (left: Token, right: Token) -> Bool { left === right }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    case named(AnyID)
    case unique(Token)
}

extension ActionDispatcher {
    /// A command that dispatches an action created from its value.
    ///
    /// It retains the dispatcher, such as a scope, and thereby the core. To reference the core weakly, use the scope's
    /// `dispatcher`.
    ///
    /// - Parameter id: identifies the dispatcher and everything that `action` depends on besides the value.
    public func command<Value>(
        id: some Hashable & Sendable,
        _ action: @escaping @Sendable (_ value: Value) -> any Action
    ) -> Command<Value> {
        Command(id: id) { value in dispatch(action(value)) }
    }
}

extension ActionDispatcher where Self: AnyObject {
    /// A command that dispatches an action created from its value, as long as the dispatcher exists.
    ///
    /// The reference is weak: props with commands, held by observers of the core, would otherwise retain the core.
    ///
    /// - Parameter id: identifies the dispatcher and everything that `action` depends on besides the value.
    public func command<Value>(
        id: some Hashable & Sendable,
        _ action: @escaping @Sendable (_ value: Value) -> any Action
    ) -> Command<Value> {
        Command(id: id) { [weak self] value in self?.dispatch(action(value)) }
    }
}
