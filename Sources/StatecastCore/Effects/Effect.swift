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

    /// One unit of asynchronous or blocking work, or one timer.
    @usableFromInline
    package struct Work: Sendable {
        package let id: AnyID?
        package let body: Body

        package enum Body: Sendable {
            case run(TaskPriority?, @Sendable (Send) async -> Void)
            case blocking(@Sendable (BlockingSend) -> Void)
            case timer(Timer)
        }
    }

    /// Dispatches an action after a delay, once or repeatedly.
    package struct Timer: Sendable {
        package let action: any Action
        package let delay: Duration
        package let isRepeating: Bool
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
    /// effects. Use ``blocking(id:cancelInFlight:_:)`` instead.
    ///
    /// - Parameters:
    ///   - id: identifies the work for ``cancel(id:)``.
    ///   - cancelInFlight: whether work that runs under the same id is cancelled first. If not, both run. No
    ///     effect without an id.
    ///   - priority: of the task.
    ///   - work: `await send(action)` returns after the action is reduced.
    public static func run(
        id: (any Hashable & Sendable)? = nil,
        cancelInFlight: Bool = false,
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable (_ send: Send) async -> Void
    ) -> Effect {
        .work(.run(priority, work), id: id, cancelInFlight: cancelInFlight)
    }

    /// Runs asynchronous work that may throw. If it does, the action that `catch` returns is sent.
    ///
    /// ```swift
    /// return .run { send in
    ///     await send(BooksLoaded(books: try await shelf.books()))
    /// } catch: { error in
    ///     BooksUnavailable(reason: "\(error)")
    /// }
    /// ```
    ///
    /// An error of cancelled work is dropped, as its actions are.
    public static func run(
        id: (any Hashable & Sendable)? = nil,
        cancelInFlight: Bool = false,
        priority: TaskPriority? = nil,
        _ work: @escaping @Sendable (_ send: Send) async throws -> Void,
        catch failed: @escaping @Sendable (_ error: any Error) -> any Action
    ) -> Effect {
        .run(id: id, cancelInFlight: cancelInFlight, priority: priority) { send in
            do { try await work(send) } catch {
                send.run.fail()
                await send(failed(error))
            }
        }
    }

    /// Runs work that blocks its thread, such as reading a file, on a thread of its own.
    ///
    /// A process runs at most 512 of these at a time and queues the others. The stack of such a thread has 512 KiB.
    /// After a ``cancel(id:)``, actions that the work sends are dropped, and ``BlockingSend/isCancelled`` is true.
    ///
    /// - Parameters:
    ///   - id: identifies the work for ``cancel(id:)``.
    ///   - cancelInFlight: whether work that runs under the same id is cancelled first. If not, both run. No
    ///     effect without an id.
    ///   - work: runs on a thread of its own.
    public static func blocking(
        id: (any Hashable & Sendable)? = nil,
        cancelInFlight: Bool = false,
        _ work: @escaping @Sendable (_ send: BlockingSend) -> Void
    ) -> Effect {
        .work(.blocking(work), id: id, cancelInFlight: cancelInFlight)
    }

    /// Runs work that blocks its thread and may throw. If it does, the action that `catch` returns is sent.
    public static func blocking(
        id: (any Hashable & Sendable)? = nil,
        cancelInFlight: Bool = false,
        _ work: @escaping @Sendable (_ send: BlockingSend) throws -> Void,
        catch failed: @escaping @Sendable (_ error: any Error) -> any Action
    ) -> Effect {
        .blocking(id: id, cancelInFlight: cancelInFlight) { send in
            do { try work(send) } catch {
                send.run.fail()
                send(failed(error))
            }
        }
    }

    private static func work(
        _ body: Work.Body,
        id: (any Hashable & Sendable)?,
        cancelInFlight: Bool = false
    ) -> Effect {
        let work = Effect(.run(Work(id: id.map { AnyID($0) }, body: body)))
        guard cancelInFlight, let id else { return work }
        return .merge(.cancel(id: id), work)
    }

    /// Cancels all work that runs under `id`: its task is cancelled, and its actions that are not reduced yet are
    /// dropped. Ids are the same if they are equal and of the same type.
    public static func cancel(id: some Hashable & Sendable) -> Effect { Effect(.cancel(AnyID(id))) }

    /// Starts several effects in the order given, without waiting for their ends.
    public static func merge(_ effects: [Effect]) -> Effect {
        composed(effects, as: Operation.merge) { if case .merge(let parts) = $0 { parts } else { nil } }
    }

    /// Starts several effects; see ``merge(_:)-([Effect])``.
    public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

    /// Starts each effect after the one before has ended or was cancelled.
    public static func sequence(_ effects: [Effect]) -> Effect {
        composed(effects, as: Operation.sequence) { if case .sequence(let parts) = $0 { parts } else { nil } }
    }

    /// Starts several effects one after another; see ``sequence(_:)-([Effect])``.
    public static func sequence(_ effects: Effect...) -> Effect { sequence(effects) }
}

// MARK: Time

extension Effect {
    /// Dispatches an action after a delay, unless ``cancel(id:)`` cancels it before.
    ///
    /// The clock continues while the machine sleeps. A `TestCore` has its own, which the test advances. The delay of a
    /// sequence's part begins when the part before has ended.
    ///
    /// - Parameters:
    ///   - action: the action to dispatch.
    ///   - delay: at most a hundred years; a longer one counts as that.
    ///   - id: identifies the delayed action.
    public static func delay(
        _ action: any Action,
        for delay: Duration,
        id: (any Hashable & Sendable)? = nil
    ) -> Effect {
        timer(action, delay, id: id)
    }

    /// Dispatches an action after a delay, and first cancels all work that runs under the same id. Of actions that
    /// follow each other within the delay, only the last one is therefore dispatched.
    ///
    /// ```swift
    /// case let action as SearchTextChanged:
    ///     state.text = action.text
    ///     return .debounce(SearchRequested(), for: .milliseconds(300), id: "search")
    /// ```
    public static func debounce(_ action: any Action, for delay: Duration, id: some Hashable & Sendable) -> Effect {
        .merge(.cancel(id: id), .delay(action, for: delay, id: id))
    }

    /// Dispatches an action at regular intervals, until ``cancel(id:)`` ends that.
    ///
    /// The first action is due after one period, and each one a whole number of periods after the start. While an
    /// action is not reduced yet, no further one is dispatched: those that are missed are skipped.
    ///
    /// - Parameters:
    ///   - action: the action to dispatch.
    ///   - period: the interval, from a millisecond to a hundred years; other ones count as the nearest of these.
    ///   - id: identifies the repeated action.
    ///   - cancelInFlight: whether work that runs under the same id is cancelled first. If not, both run. No
    ///     effect without an id.
    public static func `repeat`(
        _ action: any Action,
        every period: Duration,
        id: some Hashable & Sendable,
        cancelInFlight: Bool = false
    ) -> Effect {
        timer(action, max(period, .milliseconds(1)), id: id, isRepeating: true, cancelInFlight: cancelInFlight)
    }

    private static func timer(
        _ action: any Action,
        _ delay: Duration,
        id: (any Hashable & Sendable)?,
        isRepeating: Bool = false,
        cancelInFlight: Bool = false
    ) -> Effect {
        let timer = Timer(action: action, delay: min(max(delay, .zero), maxDelay), isRepeating: isRepeating)
        return work(.timer(timer), id: id, cancelInFlight: cancelInFlight)
    }

    /// The system cannot sleep for much longer: it traps.
    private static var maxDelay: Duration { .seconds(100 * 365 * 86_400) }
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
        _ effects: [Effect],
        as composite: (Parts) -> Operation,
        flattening parts: (Operation) -> Parts?
    ) -> Effect {
        var flat: [Effect] = []
        flat.reserveCapacity(effects.count)
        for effect in effects {
            guard let operation = effect.operation else { continue }
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
