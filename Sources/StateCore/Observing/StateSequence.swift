/// The states of a source, the newest one only: who is slow skips those in between.
///
/// It observes from the moment it is made, and starts with the current state. It ends with its source, which it does not
/// keep alive, and stops observing when its iteration ends. Each is for one iteration.
///
/// ```swift
/// for await state in core.states { print(state) }
/// ```
public struct StateSequence<State: Sendable>: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = State
    /// It does not fail.
    public typealias Failure = Never

    private let feed: Feed<State>

    init(_ source: some StateSource<State>) {
        feed = Feed(bufferedMax: 1) { yield in source.observe(replay: true, needsOld: false) { yield($0.new) } }
    }

    /// Starts the iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(feed) }

    /// Takes states out.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: Feed<State>.Iteration
        private var base: AsyncStream<State>.Iterator

        fileprivate init(_ feed: Feed<State>) {
            iteration = Feed.Iteration(feed)
            base = feed.stream.makeAsyncIterator()
        }

        /// The newest state, as soon as there is one that was not taken out; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> State? {
            await base.next(isolation: actor)
        }
    }
}

extension StateSource {
    /// The current state and those that follow, the newest one only.
    public var states: StateSequence<State> { StateSequence(self) }
}
