import Testing

@testable import StateCore

@Suite struct `A queue` {
    @Test func `gives back in order what it took`() {
        var queue = FIFO<Int>()
        queue.append(1)
        queue.append(2)
        #expect(queue.popFirst() == 1)
        queue.append(3)
        #expect(queue.popFirst() == 2)
        #expect(queue.popFirst() == 3)
        #expect(queue.popFirst() == nil)
    }

    @Test func `keeps its order while it grows, shrinks and never runs empty`() {
        var queue = FIFO<Int>()
        var next = 0
        var expected = 0
        for round in 0..<100 {
            for _ in 0..<(round % 7) * 100 + 10 {
                queue.append(next)
                next += 1
            }
            while next - expected > 5 {
                #expect(queue.popFirst() == expected)
                expected += 1
            }
        }
        #expect(next > 10_000)
    }

    @Test func `holds on to nothing that was popped`() {
        final class Witness {}
        var queue = FIFO<Witness>()
        weak var witness: Witness?
        do {
            let local = Witness()
            witness = local
            queue.append(local)
            queue.append(Witness())
        }
        #expect(witness != nil)
        _ = queue.popFirst()
        #expect(witness == nil)
        #expect(queue.popFirst() != nil)
    }
}
