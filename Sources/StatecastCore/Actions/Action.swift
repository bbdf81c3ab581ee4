/// Describes an event or a request: the only input from which a reducer changes the state.
///
/// Actions are encoded, journaled and replayed, so they are plain data, and ``name`` is part of the wire format.
/// Renaming the type renames the action unless it declares its name.
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
    /// Keep it stable and unique within a store, with at most 256 bytes of UTF-8. Names are compared byte by byte. The
    /// default is computed at each call: cache it for lookups by name.
    static var name: String { get }

    /// A sample for help texts, or nil (the default) for one with default values: 0, empty texts, empty collections.
    ///
    /// Declare it as `Self?`. A property of the non-optional type does not fulfil the requirement.
    static var example: Self? { get }

    /// Whether a middleware must handle the action: true for code such as a ``Thunk``, false by default.
    ///
    /// If such an action reaches a reducer, the core reports ``RuntimeWarning``.
    static var isForMiddleware: Bool { get }
}

extension Action {
    /// The type's own name, without module or outer types.
    public static var name: String { String(describing: Self.self) }

    /// Nil.
    public static var example: Self? { nil }

    /// False: the reducer handles it.
    @inlinable public static var isForMiddleware: Bool { false }
}

/// Whether a middleware must handle an action. Opening the existential saves 50 instructions compared with `type(of:)`.
@inlinable
func isForMiddleware<Asked: Action>(_ action: Asked) -> Bool { Asked.isForMiddleware }

/// The action as a value of another type, or nil.
///
/// Most actions that match have exactly this type. Comparing the types of the opened existential takes 4 ns, `as?` on
/// the existential 23 ns.
@inlinable
@inline(__always)
func cast<Given: Action, Wanted: Action>(_ action: Given, to _: Wanted.Type) -> Wanted? {
    if Given.self == Wanted.self { return unsafeBitCast(action, to: Wanted.self) }
    return action as? Wanted
}

/// The input of a reducer besides the state and the action.
///
/// It is recorded with the action, so that a replay computes the same state. A reducer reads the time from here, never
/// from a clock.
public struct ActionContext: Sendable, Hashable, Codable {
    /// When the owner of the state, a primary or a local core, received the action.
    public var time: Timestamp
    /// The sender's session, or nil for an action of the owner's process.
    public var session: String?
    /// The user who sent the action, by the name in the access list; nil if the primary has no keys, and for an action
    /// of the owner's process.
    public var user: String?

    /// Creates the context of an action received at `time`.
    @inlinable
    public init(time: Timestamp, session: String? = nil, user: String? = nil) {
        self.time = time
        self.session = session
        self.user = user
    }
}

/// Accepts actions: a core, a scope, a primary, or a sender.
///
/// Code that only reports events depends on this protocol and works with each of them.
public protocol ActionDispatcher: Sendable {
    /// Enqueues an action, without a result.
    ///
    /// The actions that one thread dispatches are reduced in the same order.
    func dispatch(_ action: any Action)
}

extension ActionDispatcher where Self: AnyObject {
    /// A dispatcher with a weak reference to the object, for closures that the object itself retains, such as a
    /// connector with commands in its props. Drops actions after the object is deallocated.
    public var dispatcher: any ActionDispatcher { WeakDispatcher(self) }
}

/// Dispatches to an object that it references weakly.
struct WeakDispatcher<Target: ActionDispatcher & AnyObject>: ActionDispatcher {
    private weak let target: Target?

    init(_ target: Target) { self.target = target }

    func dispatch(_ action: any Action) { target?.dispatch(action) }
}
