import Testing

@testable import CommandLineSupport

@Suite(.timeLimit(.minutes(10))) struct ReceiptQueueTests {
    /// Takes until the end, and says how much was there at each time.
    private func drain(_ queue: ReceiptQueue<Int>) async -> [[Int]] {
        var batches: [[Int]] = []
        while let batch = await queue.take() { batches.append(batch) }
        return batches
    }

    @Test func `what was appended is taken in order, all that waits at once`() async {
        let queue = ReceiptQueue<Int>(countMax: 10)
        for number in 1...3 { await queue.append(number) }
        await queue.finish()
        #expect(await drain(queue) == [[1, 2, 3]])
    }

    @Test func `at the end there is nothing, however often one asks`() async {
        let queue = ReceiptQueue<Int>(countMax: 10)
        await queue.finish()
        #expect(await queue.take() == nil)
        #expect(await queue.take() == nil)
    }

    @Test func `whoever appends waits for room, and whoever takes for something to take`() async {
        let queue = ReceiptQueue<Int>(countMax: 2)
        let appending = Task {
            for number in 0..<1000 { await queue.append(number) }
            await queue.finish()
        }
        let batches = await drain(queue)
        await appending.value
        #expect(batches.flatMap(\.self) == Array(0..<1000))
        #expect(batches.allSatisfy { (1...2).contains($0.count) })
    }
}
