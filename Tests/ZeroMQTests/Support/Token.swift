/// An object whose end a test can wait for: the stream finishes with it.
final class Token: Sendable {
    private let end: AsyncStream<Never>.Continuation

    private init(_ end: AsyncStream<Never>.Continuation) { self.end = end }

    deinit { end.finish() }

    static func make() -> (released: AsyncStream<Never>, token: Token) {
        let (stream, end) = AsyncStream<Never>.makeStream()
        return (stream, Token(end))
    }
}
