import StateCore
import Testing

@testable import SyncProtocol

@Suite struct `An outbox of pieces` {
    @Test(arguments: seeds(0..<400))
    func `equals the outbox of actions`(seed: UInt64) throws {
        var pair = OutboxPair(seed: seed)
        for _ in 0..<400 { try pair.step() }
        pair.end()
    }

    @Test func `resolves the runs of a hostile primary piece by piece`() throws {
        var outbox = Outbox()
        outbox.append(ActionChunk(Array(repeating: [7], count: 1000), first: Ticket(rawValue: 1)))
        outbox.markSent(count: 1000)
        var reports = 0
        // Every second number, then all, then numbers that were never sent.
        for number in stride(from: UInt64(2), through: 1000, by: 2) {
            var runs = OutcomeRuns(first: ActionNumber(number))
            runs.append(.applied(Revision(number)))
            outbox.resolve(runs) { actions, _ in
                #expect(actions.count == 1 && actions.number == ActionNumber(number))
                reports += 1
            }
        }
        for first in [1, 1001, 1 << 62, UInt64.max - (1 << 32)] as [UInt64] {
            var runs = OutcomeRuns(first: ActionNumber(first))
            runs.append(.applied(Revision(1)), count: 1 << 32)
            outbox.resolve(runs) { actions, outcome in
                #expect(actions.count == 1 && outcome == .applied(Revision(actions.number.rawValue)))
                reports += 1
            }
        }
        #expect(reports == 1000)
        #expect(outbox.count == 0 && outbox.isNothingSent)
        #expect(outbox.dropChunks().count == 1)
    }
}

/// Both outboxes, with the same events.
private struct OutboxPair {
    private var old = ActionOutbox()
    private var new = Outbox()
    private var generator: SeededGenerator
    private var tickets: UInt64 = 0
    private var chunksAdded = 0
    private var chunksDropped = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private var anyTicket: Ticket { mutating get { Ticket(rawValue: UInt64(generator.below(Int(tickets) + 2))) } }

    /// A number near the sent ones.
    private var anyNumber: ActionNumber {
        mutating get {
            let low = Int(old.first.rawValue)
            return ActionNumber(UInt64(max(0, low - 3 + generator.below(old.next.distance(beyond: old.first) + 7))))
        }
    }

    mutating func step() throws {
        switch generator.below(20) {
        case 0...4: append()
        case 5...9: push()
        case 10...14: resolve()
        case 15:
            let number = anyNumber
            old.rewind(to: number)
            new.rewind(to: number)
        case 16:
            let ticket = anyTicket
            #expect(old.withdraw(ticket) == new.withdraw(ticket))
        case 17: removeLarge()
        case 18: chunksDropped += new.dropChunks().count
        default: if generator.oneIn(4) { restart() }
        }
        compare()
    }

    private mutating func append() {
        var chunk = ActionChunk(first: Ticket(rawValue: tickets + 1))
        for _ in 0...generator.below(8) {
            tickets += 1
            let ticket = Ticket(rawValue: tickets)
            if generator.oneIn(10) {
                chunk.append(verdict: Rejection(.malformed, ""), mark: nil)
                continue
            }
            let size = generator.oneIn(10) ? 20 + generator.below(300) : generator.below(30)
            let bytes = Array(repeating: UInt8(truncatingIfNeeded: tickets), count: size)
            chunk.append(bytes)
            old.append(ActionOutbox.Queued(ticket: ticket, bytes: bytes))
        }
        new.append(chunk)
        chunksAdded += 1
    }

    /// Removes all actions.
    mutating func end() {
        chunksDropped += new.dropChunks().count
        #expect(chunksDropped < chunksAdded || new.count == 0)
        _ = new.abandonSent()
        _ = new.removeQueued()
        chunksDropped += new.dropChunks().count
        #expect(chunksDropped == chunksAdded && new.count == 0)
    }

    /// Compares the next frame, and sends it in most cases.
    private mutating func push() {
        let bounds = Outbox.Bounds(
            windowActionsMax: 1 + generator.below(40),
            windowBytesMax: generator.oneIn(2) ? .max : generator.below(600),
            windowFramesMax: generator.oneIn(2) ? .max : generator.below(20),
            bytesTarget: generator.oneIn(2) ? .max : generator.below(300),
            bytesMax: 100 + generator.below(400)
        )
        let (count, ranges) = new.actions(within: bounds)
        let all = old.actions(countMax: bounds.windowActionsMax, bytesMax: .max)
        let expected = all.map { ActionChunk([$0], first: Ticket(rawValue: 1)).bytes }
        #expect(count <= expected.count)
        #expect(ranges.flatMap { $0 } == expected.prefix(count).flatMap { $0 })
        let bytes = ranges.reduce(0) { $0 + $1.count }
        #expect(bytes <= bounds.bytesMax)
        #expect(count <= 1 || bytes <= bounds.bytesTarget)
        #expect(count < ranges.count + 1 || count > 0 || ranges.isEmpty)
        let resent = min(count, old.next.distance(beyond: old.cursor))
        let outstanding = old.numbered.reduce(0) { $0 + ActionChunk([$1.bytes], first: $1.ticket).bytes.count }
        let added = expected.prefix(count).dropFirst(resent).reduce(0) { $0 + $1.count }
        #expect(added == 0 || outstanding + added <= bounds.windowBytesMax || old.numbered.isEmpty && count == 1)
        // Nothing else stops a frame that has room for one more action.
        if count < expected.count, bounds.windowFramesMax == .max {
            let next = expected[count].count
            let isNew = count >= old.next.distance(beyond: old.cursor)
            let fits = bytes + next <= min(bounds.bytesTarget, bounds.bytesMax)
            #expect(!fits || isNew && outstanding + added + next > bounds.windowBytesMax)
            let isBeyond = isNew && !old.numbered.isEmpty && outstanding + next > bounds.windowBytesMax
            #expect(count > 0 || isBeyond || next > bounds.bytesMax)
        }
        guard !generator.oneIn(4) else { return }
        old.markSent(count: count)
        new.markSent(count: count)
    }

    private mutating func resolve() {
        var runs = OutcomeRuns(first: anyNumber)
        for _ in 0...generator.below(4) {
            if generator.oneIn(4) {
                runs.append(.rejected(Rejection(.refused, "no")), count: 1 + generator.below(4))
            } else {
                runs.append(.applied(Revision(UInt64(generator.below(1000)))), count: 1 + generator.below(12))
            }
        }
        var expected: [String] = []
        for number in runs.start.rawValue..<runs.end.rawValue {
            let number = ActionNumber(number)
            guard let outcome = runs.outcome(of: number), let ticket = old.resolve(number) else { continue }
            expected.append("\(ticket.rawValue) \(number) \(outcome)")
        }
        var resolved: [String] = []
        new.resolve(runs) { actions, outcome in
            for index in 0..<actions.count {
                let number = actions.number.advanced(by: index)
                var each = outcome
                if case .applied(let revision) = outcome { each = .applied(revision.advanced(by: index)) }
                resolved.append("\(actions.ticket.advanced(by: index).rawValue) \(number) \(each)")
            }
        }
        #expect(resolved == expected)
    }

    private mutating func removeLarge() {
        let bytesMax = 20 + generator.below(300)
        let removed = old.removeQueued { $0.bytes.count > bytesMax }
        let pairs = new.removeQueued(largerThan: bytesMax)
        #expect(pairs.map(\.ticket) == removed.map(\.ticket))
        #expect(pairs.map(\.bytes) == removed.map(\.bytes.count))
    }

    private mutating func restart() {
        switch generator.below(4) {
        case 0:
            old.requeueNumbered()
            new.requeueSent()
        case 1:
            let abandoned = old.abandonNumbered().map { "\($0.ticket.rawValue) \($0.number)" }
            let runs = new.abandonSent()
            #expect(
                runs.flatMap { run in
                    (0..<run.count).map { index in
                        "\(run.ticket.advanced(by: index).rawValue) \(run.number.advanced(by: index))"
                    }
                } == abandoned
            )
        case 2:
            let removed = old.removeQueued { _ in true }.map(\.ticket)
            let pieces = new.removeQueued()
            #expect(pieces.flatMap { piece in (0..<piece.count).map { piece.ticket.advanced(by: $0) } } == removed)
        default:
            old.releaseReceipts(before: old.first)
            new.releaseReceipts(before: new.first)
        }
    }

    private mutating func compare() {
        #expect(new.first == old.first && new.next == old.next && new.cursor == old.cursor)
        #expect(new.count == old.count)
        #expect(new.isNothingSent == old.numbered.isEmpty)
        #expect(new.queuedBytes == old.queued.reduce(0) { $0 + ActionChunk([$1.bytes], first: $1.ticket).bytes.count })
        let (number, ticket, bytesMax) = (anyNumber, anyTicket, generator.below(400))
        #expect(new.awaitsReceipt(of: number) == old.awaitsReceipt(of: number))
        #expect(new.number(of: ticket) == old.number(of: ticket))
        #expect(new.fits(bytesMax: bytesMax) == old.fits(bytesMax: bytesMax))
    }
}
