import Synchronization

extension StateSource {
    /// The current state and those that follow. Buffers only the newest state: slow consumers skip intermediate ones.
    ///
    /// The sequence observes from its creation. It does not retain its source, ends with it, and stops observing when
    /// its iteration ends. It supports one iteration.
    ///
    /// ```swift
    /// for await state in core.states { print(state) }
    /// ```
    public var states: some AsyncSequence<State, Never> & Sendable {
        BufferedObservation(maxBuffered: 1) { yield in
            observe(replay: .current, oldState: .omitted) { yield($0.new) }
        }
    }

    /// All changes from now on, or the number of lost ones.
    ///
    /// The sequence observes from its creation. It does not retain its source, ends with it, and stops observing when
    /// its iteration ends. It supports one iteration.
    ///
    /// ```swift
    /// for await event in core.changes() {
    ///     switch event {
    ///     case .change(let change): apply(change)
    ///     case .lost: startAgain()
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - replay: whether the current state comes first, as a change of its own.
    ///   - maxBuffered: the number of buffered changes. Beyond it the oldest are dropped, and reported as lost.
    public func changes(
        replay: Replay = .current,
        maxBuffered: Int = 256
    ) -> some AsyncSequence<ChangeEvent<State>, Never> & Sendable {
        precondition(maxBuffered > 0, "maxBuffered must be positive, is \(maxBuffered)")
        let observation = BufferedObservation<NumberedChange<State>>(maxBuffered: maxBuffered) { yield in
            let counter = Counter()
            return observe(replay: replay) { yield(NumberedChange(number: counter.next(), change: $0)) }
        }
        return ChangeSequence(observation: observation)
    }
}

/// An element of a sequence of changes.
public enum ChangeEvent<State: Sendable>: Sendable {
    /// The next change. The first one is the replay, if it was requested.
    case change(Change<State>)
    /// The number of changes that are missing here, because they exceeded the buffer.
    case lost(Int)
}

// MARK: Changes

/// A change and the number of changes before it, which distinguishes a loss from revisions that the source skips.
private struct NumberedChange<State: Sendable>: Sendable {
    let number: Int
    let change: Change<State>
}

private final class Counter: Sendable {
    // Relaxed, because a source delivers one change at a time.
    private let count = Atomic(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

private struct ChangeSequence<State: Sendable>: AsyncSequence, Sendable {
    let observation: BufferedObservation<NumberedChange<State>>

    func makeAsyncIterator() -> Iterator { Iterator(base: observation.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var base: BufferedObservation<NumberedChange<State>>.Iterator
        var nextNumber = 0
        /// The change that follows a reported loss.
        var pending: Change<State>?

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ChangeEvent<State>? {
            if let change = pending.take() { return .change(change) }
            guard let next = await base.next(isolation: actor) else { return nil }
            let lost = next.number - nextNumber
            nextNumber = next.number + 1
            guard lost > 0 else { return .change(next.change) }
            pending = next.change
            return .lost(lost)
        }
    }
}

// MARK: Buffering

/// An observation whose elements are buffered in a stream.
///
/// The source does not retain it, so that a source that ends can end the iteration.
private final class BufferedObservation<Element: Sendable>: AsyncSequence, Sendable {
    private let stream: AsyncStream<Element>
    private let subscription: Subscription

    /// - Parameters:
    ///   - maxBuffered: the number of buffered elements; beyond it the oldest are dropped.
    ///   - observe: starts the observation. The stream finishes when `yield` is released.
    init(maxBuffered: Int, observe: (_ yield: @escaping @Sendable (Element) -> Void) -> Subscription) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self,
            bufferingPolicy: .bufferingNewest(maxBuffered)
        )
        let input = Input(continuation: continuation)
        self.stream = stream
        subscription = observe { input.continuation.yield($0) }
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(lifetime: Lifetime(observation: self), base: stream.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let lifetime: Lifetime
        fileprivate var base: AsyncStream<Element>.Iterator

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await base.next(isolation: actor)
        }
    }

    /// Finishes the stream when the source releases it.
    private final class Input: Sendable {
        let continuation: AsyncStream<Element>.Continuation

        init(continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

        deinit { continuation.finish() }
    }

    /// Ends the observation when the iteration releases it.
    fileprivate final class Lifetime: Sendable {
        private let observation: BufferedObservation

        init(observation: BufferedObservation) { self.observation = observation }

        deinit { observation.subscription.cancel() }
    }
}
