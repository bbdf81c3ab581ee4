/// Between whoever submits and whoever waits for the receipts: in order, and bounded, so that a slow reader of receipts
/// slows down the sending instead of filling the memory.
///
/// One task appends, one takes.
actor ReceiptQueue<Element: Sendable> {
    private let countMax: Int
    private var waiting: [Element] = []
    private var isFinished = false
    private var producer: CheckedContinuation<Void, Never>?
    private var consumer: CheckedContinuation<Void, Never>?

    init(countMax: Int) { self.countMax = countMax }

    /// Waits while the queue is full.
    func append(_ element: Element) async {
        while waiting.count >= countMax { await withCheckedContinuation { producer = $0 } }
        waiting.append(element)
        wake(&consumer)
    }

    /// Nothing more comes.
    func finish() {
        isFinished = true
        wake(&consumer)
    }

    /// All that waits, at least one; `nil` at the end.
    func take() async -> [Element]? {
        while waiting.isEmpty, !isFinished { await withCheckedContinuation { consumer = $0 } }
        guard !waiting.isEmpty else { return nil }
        defer {
            waiting = []
            wake(&producer)
        }
        return waiting
    }

    private func wake(_ waiter: inout CheckedContinuation<Void, Never>?) {
        waiter?.resume()
        waiter = nil
    }
}
