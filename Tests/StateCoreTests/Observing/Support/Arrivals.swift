/// What callbacks bring, to be awaited.
final class Arrivals<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func record(_ element: Element) { continuation.yield(element) }

    /// The next `count` elements, as soon as they have come.
    func next(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        for await element in stream.prefix(count) { elements.append(element) }
        return elements
    }

    func next() async -> Element? { await next(1).first }
}
