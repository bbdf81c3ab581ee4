/// The changes of a source, each of them, or word of how many were lost.
///
/// It observes from the moment it is made. It ends with its source, which it does not keep alive, and stops observing
/// when its iteration ends. Each is for one iteration.
///
/// ```swift
/// for await element in core.changes() {
///     switch element {
///     case .change(let change): apply(change)
///     case .lost: startAgain()
///     }
/// }
/// ```
public struct ChangeSequence<State: Sendable>: AsyncSequence, Sendable {
    /// What comes out of it.
    public enum Element: Sendable {
        /// The next change; the first is the replay, if one was asked for.
        case change(Change<State>)
        /// So many changes that are missing here, since they came faster than they were taken out.
        case lost(Int)
    }

    /// It does not fail.
    public typealias Failure = Never

    private let feed: Feed<NumberedChange<State>>

    init(_ source: some StateSource<State>, replay: Bool, bufferedMax: Int) {
        precondition(bufferedMax > 0, "bufferedMax must be positive, is \(bufferedMax)")
        feed = Feed(bufferedMax: bufferedMax) { yield in
            let count = ChangeCount()
            return source.observe(replay: replay) { yield(NumberedChange(number: count.next(), change: $0)) }
        }
    }

    /// Starts the iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(feed) }

    /// Takes changes out.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: Feed<NumberedChange<State>>.Iteration
        private var base: AsyncStream<NumberedChange<State>>.Iterator
        private var taken = 0
        /// What comes after word of a loss.
        private var following: Change<State>?

        fileprivate init(_ feed: Feed<NumberedChange<State>>) {
            iteration = Feed.Iteration(feed)
            base = feed.stream.makeAsyncIterator()
        }

        /// The next change, or word of those lost before it; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            if let change = following.take() { return .change(change) }
            guard let next = await base.next(isolation: actor) else { return nil }
            let lost = next.number - taken
            taken = next.number + 1
            guard lost > 0 else { return .change(next.change) }
            following = next.change
            return .lost(lost)
        }
    }
}

extension StateSource {
    /// The changes from now on.
    ///
    /// - Parameters:
    ///   - replay: whether the current state comes first, as a change of its own.
    ///   - bufferedMax: how many changes wait at most to be taken out; beyond that the oldest are lost, and said to be.
    public func changes(replay: Bool = true, bufferedMax: Int = 256) -> ChangeSequence<State> {
        ChangeSequence(self, replay: replay, bufferedMax: bufferedMax)
    }
}
