/// What waits, first come, first served.
struct FIFO<Element> {
    private var arrived: [Element] = []
    /// The next ones, last first: so taking one out moves none of the others.
    private var next: [Element] = []

    var isEmpty: Bool { arrived.isEmpty && next.isEmpty }

    mutating func append(_ element: Element) { arrived.append(element) }

    mutating func popFirst() -> Element? {
        if next.isEmpty, !arrived.isEmpty {
            next = arrived.reversed()
            arrived = []
        }
        return next.popLast()
    }
}
