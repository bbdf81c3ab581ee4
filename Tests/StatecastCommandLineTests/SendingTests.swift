import ArgumentParser
import Statecast
import StatecastProtocol
import Testing

@testable import StatecastCommandLine

@Suite struct InputProgressTests {
    private static func line(_ number: Int, _ text: String = "x") -> InputLine {
        .line(number: number, Array(text.utf8))
    }

    private static func mark(after lines: [InputLine]) throws -> InputMark {
        var progress = InputProgress()
        for line in lines { #expect(try progress.read(line)) }
        try progress.finish()
        return progress.mark
    }

    @Test func `lines of an earlier run are skipped`() throws {
        let lines = [Self.line(1), .tooLong(number: 2), Self.line(3, "")]
        var progress = InputProgress(resumingAfter: try Self.mark(after: lines))
        for line in lines { #expect(try !progress.read(line)) }
        #expect(try progress.read(Self.line(4)))
        #expect(progress.mark.position == 4)
    }

    @Test func `an input that begins with other lines is refused`() throws {
        let consumed = try Self.mark(after: [Self.line(1, "ab"), Self.line(2, "c")])
        for other in [[Self.line(1, "ab"), Self.line(2, "d")], [Self.line(1, "a"), Self.line(2, "bc")]] {
            var progress = InputProgress(resumingAfter: consumed)
            _ = try progress.read(other[0])
            #expect(throws: CommandFailure.self) { try progress.read(other[1]) }
        }
    }

    @Test func `an input with fewer lines is refused`() throws {
        let consumed = try Self.mark(after: [Self.line(1), Self.line(2)])
        var progress = InputProgress(resumingAfter: consumed)
        _ = try progress.read(Self.line(1))
        let failure = #expect(throws: CommandFailure.self) { try progress.finish() }
        #expect(failure?.exitCode.rawValue == 64)
        #expect(failure?.message.contains("the 2 lines of an earlier run, but it has 1 lines") == true)
    }
}

@Suite(.timeLimit(.minutes(10))) struct BoundedQueueTests {
    /// Dequeues batches until the end.
    private func drain(_ queue: BoundedQueue<Int>) async -> [[Int]] {
        var batches: [[Int]] = []
        while let batch = await queue.dequeueAll() { batches.append(batch) }
        return batches
    }

    @Test func `all waiting elements are dequeued at once, in order`() async {
        let queue = BoundedQueue<Int>(maxCount: 10)
        for number in 1...3 { await queue.enqueue([number]) }
        await queue.finish()
        #expect(await drain(queue) == [[1, 2, 3]])
    }

    @Test func `a finished queue stays finished`() async {
        let queue = BoundedQueue<Int>(maxCount: 10)
        await queue.finish()
        #expect(await queue.dequeueAll() == nil)
        #expect(await queue.dequeueAll() == nil)
    }

    @Test func `the producer waits for room, and the consumer for an element`() async {
        let queue = BoundedQueue<Int>(maxCount: 2)
        let producing = Task {
            for number in 0..<1000 { await queue.enqueue([number]) }
            await queue.finish()
        }
        let batches = await drain(queue)
        await producing.value
        #expect(batches.flatMap(\.self) == Array(0..<1000))
        #expect(batches.allSatisfy { (1...2).contains($0.count) })
    }
}
