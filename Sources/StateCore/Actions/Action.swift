/// Says what happened, or what somebody wants: the only way to ask a reducer for a change.
///
/// An action travels: it is encoded by its sender, journaled and replayed, so it is plain data, and its
/// `name` is part of the wire format. Renaming the type renames the action unless `name` is spelled out.
///
/// ```swift
/// struct StepChangeRequested: Action {
///     var step: Int
///     static let example: Self? = Self(step: 5)
/// }
/// ```
public protocol Action: Codable, Sendable {
    /// The name on the wire and in journals; by default the type's own name, without module or outer types.
    ///
    /// Keep it stable and unique within a store. The default is worked out at each call: whoever looks
    /// actions up by name keeps a table.
    static var name: String { get }

    /// A sample for help texts, or nil (the default) for one with default values: 0, empty texts, empty collections.
    ///
    /// Declare it as `Self?`; a property of the plain type is another property, and would not be found.
    static var example: Self? { get }

    /// Whether a middleware must handle the action: true for code such as a ``Thunk``, false by default.
    ///
    /// If such an action reaches a reducer, the core reports ``Misuse``.
    static var isForMiddleware: Bool { get }
}

extension Action {
    /// The type's own name, without module or outer types.
    public static var name: String { String(describing: Self.self) }

    /// None.
    public static var example: Self? { nil }

    /// False: the reducer handles it.
    @inlinable public static var isForMiddleware: Bool { false }
}

/// Whether a middleware has to take an action. Opens the existential: asking `type(of:)` costs 50 instructions more.
@inlinable
func isForMiddleware<Asked: Action>(_ action: Asked) -> Bool { Asked.isForMiddleware }
