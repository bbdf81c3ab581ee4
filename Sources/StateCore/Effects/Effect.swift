/// Describes work to be done after a reduction; what it finds out comes back as actions.
///
/// A reducer returns effects and never does the work itself. They start once the action that they belong to is applied
/// (on a primary: durable) and its observers have been told, in the order of the actions. Asynchronous work runs up to its
/// first suspension before the next starts; from there on all run side by side. Only behind one that is busy for more
/// than 10 ms before it suspends, the others start without waiting for that. Results are ordinary actions: they are
/// reduced against the state as it then is, so nothing is lost to one that was read too early.
///
/// ```swift
/// let reducer = Reducer<Library> { library, action in
///     switch action {
///     case is LoadRequested:
///         library.isLoading = true
///         return .run(id: "load") { send in await send(BooksLoaded(books: await shelf.books())) }
///     case is LoadCancelled:
///         library.isLoading = false
///         return .cancel(id: "load")
///     default:
///         return .none
///     }
/// }
/// ```
public struct Effect: Sendable {
    @usableFromInline package let operation: Operation?

    /// What there is to do.
    @usableFromInline
    package indirect enum Operation: Sendable {
        case dispatch(any Action)
        case run(Work)
        case cancel(AnyID)
        case merge(Parts)
        case sequence(Parts)
    }

    /// One piece of asynchronous or blocking work.
    @usableFromInline
    package struct Work: Sendable {
        package let id: AnyID?
        package let body: Body

        package enum Body: Sendable {
            case run(TaskPriority?, @Sendable (Send) async -> Void)
            case blocking(@Sendable (BlockingSend) -> Void)
        }
    }

    @inlinable
    init(_ operation: Operation?) { self.operation = operation }

    /// Nothing to do.
    @inlinable public static var none: Effect { Effect(nil) }

    /// Whether there is nothing to do.
    @inlinable public var isNone: Bool { operation == nil }
}

extension Effect {
    /// Dispatches one action, after those that are already queued.
    public static func dispatch(_ action: any Action) -> Effect { Effect(.dispatch(action)) }

    /// Runs asynchronous work that sends any number of actions: none, one, or a stream of them.
    ///
    /// The work must not hold up its thread for long: that is what ``blocking(_:)`` is for.
    ///
    /// - Parameters:
    ///   - priority: of the task.
    ///   - work: ends when it returns. `await send(action)` returns when the action has been reduced.
    public static func run(
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable (_ send: Send) async -> Void
    ) -> Effect {
        Effect(.run(Work(id: nil, body: .run(priority, work))))
    }

    /// Runs asynchronous work that ``cancel(id:)`` can end.
    ///
    /// - Parameters:
    ///   - id: what ``cancel(id:)`` names it by.
    ///   - cancelInFlight: whether work that runs under the same id is cancelled first. If not, both run.
    ///   - priority: of the task.
    ///   - work: ends when it returns. `await send(action)` returns when the action has been reduced.
    public static func run(
        id: some Hashable & Sendable,
        cancelInFlight: Bool = false,
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable (_ send: Send) async -> Void
    ) -> Effect {
        let run = Effect(.run(Work(id: AnyID(id), body: .run(priority, work))))
        return cancelInFlight ? .merge(.cancel(id: id), run) : run
    }

    /// Runs work that blocks its thread, such as reading a file, on a thread of its own, so that nothing else waits.
    ///
    /// 512 at a time in a process are the limit; more wait for their turn. The stack of such a thread has 512 KiB.
    public static func blocking(_ work: @escaping @Sendable (_ send: BlockingSend) -> Void) -> Effect {
        Effect(.run(Work(id: nil, body: .blocking(work))))
    }

    /// Runs work that blocks its thread and that ``cancel(id:)`` can end: what it sends then is dropped, and
    /// ``BlockingSend/isCancelled`` says so.
    ///
    /// - Parameters:
    ///   - id: what ``cancel(id:)`` names it by.
    ///   - cancelInFlight: whether it replaces work that runs under the same id, which is cancelled first.
    ///   - work: runs on a thread of its own.
    public static func blocking(
        id: some Hashable & Sendable,
        cancelInFlight: Bool = false,
        _ work: @escaping @Sendable (_ send: BlockingSend) -> Void
    ) -> Effect {
        let blocking = Effect(.run(Work(id: AnyID(id), body: .blocking(work))))
        return cancelInFlight ? .merge(.cancel(id: id), blocking) : blocking
    }

    /// Ends all work that runs under `id`: its task is cancelled, and what it has sent and is not reduced yet, or sends
    /// from now on, is dropped. Ids are the same if they are equal and of the same type.
    public static func cancel(id: some Hashable & Sendable) -> Effect { Effect(.cancel(AnyID(id))) }

    /// Starts several effects, in the order given, without waiting for any; nil stands for none.
    public static func merge(_ effects: [Effect?]) -> Effect {
        composed(effects, as: Operation.merge) { if case .merge(let parts) = $0 { parts } else { nil } }
    }

    /// Starts several effects; see ``merge(_:)-([Effect?])``.
    @_disfavoredOverload
    public static func merge(_ effects: Effect?...) -> Effect { merge(effects) }

    /// Starts several effects; see ``merge(_:)-([Effect?])``. Here `.none` is an effect without a doubt.
    public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

    /// Starts each effect when the one before has ended, also if it was cancelled; nil stands for none.
    public static func sequence(_ effects: [Effect?]) -> Effect {
        composed(effects, as: Operation.sequence) { if case .sequence(let parts) = $0 { parts } else { nil } }
    }

    /// Starts several effects one after another; see ``sequence(_:)-([Effect?])``.
    @_disfavoredOverload
    public static func sequence(_ effects: Effect?...) -> Effect { sequence(effects) }

    /// Starts several effects one after another; see ``sequence(_:)-([Effect?])``. Here `.none` is an effect without a
    /// doubt.
    public static func sequence(_ effects: Effect...) -> Effect { sequence(effects) }
}
