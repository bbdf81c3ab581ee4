/// A first-in, first-out queue with amortized O(1) operations.
struct FIFO<Element> {
    private var appended: [Element] = []
    /// The next elements in reverse order, so that removing one moves no others.
    private var reversed: [Element] = []

    mutating func append(_ element: Element) { appended.append(element) }

    mutating func popFirst() -> Element? {
        if reversed.isEmpty, !appended.isEmpty {
            reversed = appended.reversed()
            appended = []
        }
        return reversed.popLast()
    }
}
