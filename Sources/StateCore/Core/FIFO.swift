/// A queue with appends and pops in amortised O(1).
struct FIFO<Element> {
    private var slots: [Element?] = []
    private var head = 0

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    mutating func popFirst() -> Element? {
        guard head < slots.count else { return nil }
        let element = slots[head].take()
        head += 1
        if head == slots.count {
            slots.removeAll(keepingCapacity: slots.capacity <= Self.idleCapacityMax)
            head = 0
        } else if head >= Self.idleCapacityMax, head * 2 >= slots.count {
            // Popped slots are given back once they are the larger part, so a queue that never runs empty
            // stays as small as what waits in it.
            slots.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Beyond this many slots, an empty queue gives its memory back.
    private static var idleCapacityMax: Int { 1_024 }
}
