/// Describes work to run after a reduction; its results return as actions.
///
/// A reducer returns effects and never performs work itself. Effects start after their action is applied (on a primary:
/// durable) and its observers are notified, in the order of the actions. Asynchronous work runs up to its first
/// suspension before the next effect of the same core starts, and concurrently from there on. Results are ordinary
/// actions, reduced against the state at that time, so no concurrent change is lost.
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

    @usableFromInline
    package indirect enum Operation: Sendable {
        case dispatch(any Action)
        case run(Work)
        case cancel(AnyID)
        case merge(Parts)
        case sequence(Parts)
    }

    /// One unit of asynchronous or blocking work.
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

    /// The effect without work.
    @inlinable public static var none: Effect { Effect(nil) }

    /// Whether the effect has no work.
    @inlinable public var isNone: Bool { operation == nil }
}

extension Effect {
    /// Dispatches one action, after those that are already queued.
    public static func dispatch(_ action: any Action) -> Effect { Effect(.dispatch(action)) }

    /// Runs asynchronous work that sends any number of actions.
    ///
    /// The work must not block its thread or compute for long without suspending: it would delay the start of later
    /// effects. Use ``blocking(_:)`` instead.
    ///
    /// - Parameters:
    ///   - priority: of the task.
    ///   - work: `await send(action)` returns after the action is reduced.
    public static func run(
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable (_ send: Send) async -> Void
    ) -> Effect {
        Effect(.run(Work(id: nil, body: .run(priority, work))))
    }

    /// Runs asynchronous work that ``cancel(id:)`` can cancel.
    ///
    /// - Parameters:
    ///   - id: identifies the work.
    ///   - cancelInFlight: whether work that runs under the same id is cancelled first. If not, both run.
    ///   - priority: of the task.
    ///   - work: `await send(action)` returns after the action is reduced.
    public static func run(
        id: some Hashable & Sendable,
        cancelInFlight: Bool = false,
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable (_ send: Send) async -> Void
    ) -> Effect {
        let run = Effect(.run(Work(id: AnyID(id), body: .run(priority, work))))
        return cancelInFlight ? .merge(.cancel(id: id), run) : run
    }

    /// Runs work that blocks its thread, such as reading a file, on a thread of its own.
    ///
    /// A process runs at most 512 of these at a time and queues the others. The stack of such a thread has 512 KiB.
    public static func blocking(_ work: @escaping @Sendable (_ send: BlockingSend) -> Void) -> Effect {
        Effect(.run(Work(id: nil, body: .blocking(work))))
    }

    /// Runs work that blocks its thread and that ``cancel(id:)`` can cancel: actions that it sends afterwards are
    /// dropped, and ``BlockingSend/isCancelled`` is true.
    ///
    /// - Parameters:
    ///   - id: identifies the work.
    ///   - cancelInFlight: whether work that runs under the same id is cancelled first. If not, both run.
    ///   - work: runs on a thread of its own.
    public static func blocking(
        id: some Hashable & Sendable,
        cancelInFlight: Bool = false,
        _ work: @escaping @Sendable (_ send: BlockingSend) -> Void
    ) -> Effect {
        let blocking = Effect(.run(Work(id: AnyID(id), body: .blocking(work))))
        return cancelInFlight ? .merge(.cancel(id: id), blocking) : blocking
    }

    /// Cancels all work that runs under `id`: its task is cancelled, and its actions that are not reduced yet are
    /// dropped. Ids are the same if they are equal and of the same type.
    public static func cancel(id: some Hashable & Sendable) -> Effect { Effect(.cancel(AnyID(id))) }

    /// Starts several effects in the order given, without waiting for their ends; nil stands for none.
    public static func merge(_ effects: [Effect?]) -> Effect {
        composed(effects, as: Operation.merge) { if case .merge(let parts) = $0 { parts } else { nil } }
    }

    /// Starts several effects; see ``merge(_:)-([Effect?])``.
    @_disfavoredOverload
    public static func merge(_ effects: Effect?...) -> Effect { merge(effects) }

    /// Starts several effects; see ``merge(_:)-([Effect?])``. With this overload `.none` is the effect, not the
    /// optional.
    public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

    /// Starts each effect after the one before has ended or was cancelled; nil stands for none.
    public static func sequence(_ effects: [Effect?]) -> Effect {
        composed(effects, as: Operation.sequence) { if case .sequence(let parts) = $0 { parts } else { nil } }
    }

    /// Starts several effects one after another; see ``sequence(_:)-([Effect?])``.
    @_disfavoredOverload
    public static func sequence(_ effects: Effect?...) -> Effect { sequence(effects) }

    /// Starts several effects one after another; see ``sequence(_:)-([Effect?])``. With this overload `.none` is the
    /// effect, not the optional.
    public static func sequence(_ effects: Effect...) -> Effect { sequence(effects) }
}

// MARK: Composition

extension Effect {
    /// The parts of a composite effect: two or more, none of them empty.
    @usableFromInline
    package struct Parts: Sendable, Sequence {
        let effects: [Effect]
        /// Computed once, because parts nest.
        let workCount: Int

        fileprivate init(_ effects: [Effect]) {
            self.effects = effects
            workCount = effects.reduce(0) { $0 + $1.workCount }
        }

        @usableFromInline
        package func makeIterator() -> IndexingIterator<[Effect]> { effects.makeIterator() }
    }

    /// The number of units of work.
    package var workCount: Int {
        switch operation {
        case nil, .dispatch, .cancel: 0
        case .run: 1
        case .merge(let parts), .sequence(let parts): parts.workCount
        }
    }

    /// The ids that the effect cancels, including those that a sequence cancels later.
    package var cancelledIDs: [AnyID] {
        switch operation {
        case nil, .dispatch, .run: []
        case .cancel(let id): [id]
        case .merge(let parts), .sequence(let parts): parts.flatMap(\.cancelledIDs)
        }
    }

    /// Composes effects. Flattens parts that are composed in the same way, which bounds the depth.
    private static func composed(
        _ effects: [Effect?],
        as composite: (Parts) -> Operation,
        flattening parts: (Operation) -> Parts?
    ) -> Effect {
        var flat: [Effect] = []
        flat.reserveCapacity(effects.count)
        for effect in effects {
            guard let effect, let operation = effect.operation else { continue }
            if let parts = parts(operation) {
                flat += parts.effects
            } else {
                flat.append(effect)
            }
        }
        return flat.count > 1 ? Effect(composite(Parts(flat))) : flat.first ?? .none
    }
}

/// Collects effects one by one and merges them once: repeated merging would copy the parts each time. Allocates from
/// the second effect on.
struct EffectList {
    private var first = Effect.none
    private var others: [Effect] = []

    mutating func append(_ effect: Effect) {
        guard !effect.isNone else { return }
        if first.isNone {
            first = effect
        } else {
            others.append(effect)
        }
    }

    var merged: Effect { others.isEmpty ? first : .merge([first] + others) }
}
