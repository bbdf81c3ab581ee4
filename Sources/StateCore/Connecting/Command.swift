/// A callback that can be compared, so that props may contain it.
///
/// Two closures cannot be told apart; two commands can, by who they are. One without an id equals only its copies, so
/// make it once and keep it, or props that contain it differ at every rendering. One with an id equals every other with
/// an equal id of the same type: a connector may make it anew each time.
///
/// ```swift
/// struct Props: Equatable {
///     var onRefuel: Command<Int>
/// }
/// Props(onRefuel: core.command(id: truck.id) { litres in RefuelRequested(truck: truck.id, litres: litres) })
/// ```
///
/// - Warning: An id stands for everything that the callback does. If it uses something that may differ (a row, an amount),
///   that belongs into the id; two meanings under one id count as equal, so the component keeps the stale one.
public struct Command<Value>: Sendable {
    private let identity: CommandIdentity
    private let body: @Sendable (Value) -> Void

    /// A command that equals those with an equal id of the same type.
    public init(id: some Hashable & Sendable, _ body: @escaping @Sendable (_ value: Value) -> Void) {
        identity = .named(AnyID(id))
        self.body = body
    }

    /// A command that equals only its copies.
    public init(_ body: @escaping @Sendable (_ value: Value) -> Void) {
        identity = .unique(CommandIdentity.Unique())
        self.body = body
    }

    /// Carries it out.
    public func callAsFunction(_ value: Value) { body(value) }

    /// This command with a fixed value. Two are equal if their commands and values are equal.
    ///
    /// ```swift
    /// let onSelect: Command<Void> = props.onSelectRow.bound(to: row.id)
    /// ```
    public func bound(to value: Value) -> Command<Void> where Value: Hashable & Sendable {
        Command<Void>(id: Bound(identity: identity, value: value)) { [body] in body(value) }
    }

    /// The identity of a bound command.
    private struct Bound<Argument: Hashable & Sendable>: Hashable, Sendable {
        let identity: CommandIdentity
        let value: Argument
    }
}

extension Command where Value == Void {
    /// Carries it out.
    public func callAsFunction() { callAsFunction(()) }
}

extension Command: Hashable {
    /// Whether both are the same command, or have equal ids.
    public static func == (left: Command, right: Command) -> Bool { left.identity == right.identity }

    /// Adds who it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
