/// What a source tells, on its way to whoever iterates.
///
/// It keeps the observation going and is not known to it, so that a source that ends can end the iteration.
final class Feed<Element: Sendable>: Sendable {
    let stream: AsyncStream<Element>
    private let subscription: Subscription

    /// - Parameters:
    ///   - bufferedMax: how many elements wait at most; beyond that the oldest are dropped.
    ///   - observe: starts the observation. The feed ends when the callback that it was given is released.
    init(bufferedMax: Int, observe: (_ yield: @escaping @Sendable (Element) -> Void) -> Subscription) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self,
            bufferingPolicy: .bufferingNewest(bufferedMax)
        )
        let inlet = Inlet(continuation: continuation)
        self.stream = stream
        subscription = observe { inlet.continuation.yield($0) }
    }

    func end() { subscription.cancel() }

    /// Finishes the stream once nothing can come any more.
    private final class Inlet: Sendable {
        let continuation: AsyncStream<Element>.Continuation

        init(continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

        deinit { continuation.finish() }
    }

    /// Ends a feed when the iteration that holds this one ends.
    final class Iteration: Sendable {
        let feed: Feed

        init(_ feed: Feed) { self.feed = feed }

        deinit { feed.end() }
    }
}
