import StatecastCore
import StatecastProtocol
import Testing

/// A sender decides what must be on the disk before a frame is pushed, and what became of actions that are not.
@Suite struct `A sender that saves its session` {
    /// A sender that has a session in the primary, which is on the disk.
    private static func open(_ limits: Limits = .sendingAtOnce, maxActionBytes: Int = 1 << 18) -> SenderBench {
        var bench = SenderBench(resuming: SavedBench().session, limits)
        bench.watermark(nil, maxActionBytes: maxActionBytes)
        bench.watermark(0, maxActionBytes: maxActionBytes)
        bench.push()
        bench.isDiskSlow = true
        return bench
    }

    @Test func `A sender that saves its session pushes actions in order when they are on the disk`() {
        var bench = Self.open()
        let count = bench.changes.count
        bench.send(2)
        #expect(bench.changes.count == count + 2)
        #expect(bench.changes.last?.chunks == [ActionChunk([[7, 7, 7]], first: Ticket(rawValue: 2))])
        #expect(bench.push().isEmpty)
        bench.written(count + 1)
        #expect(bench.push().map(\.numbers) == [1...1])
        bench.written()
        #expect(bench.push().map(\.numbers) == [2...2])
    }

    @Test func `A sender saves input that is no action with its outcome, and never pushes it`() throws {
        var chunk = ActionChunk(first: Ticket(rawValue: 1))
        chunk.append([1])
        chunk.append(invalid: Rejection(.malformed, "no action"), mark: InputMark(position: 2))
        chunk.append([3])
        var bench = Self.open()
        bench.handle { $0.submitted(chunk) }
        #expect(bench.code(Ticket(rawValue: 2)) == .malformed, "at once")
        #expect(bench.push().isEmpty)
        bench.written()
        #expect(bench.push().map(\.contents) == [[[1], [3]]])
        var saved = SavedBench().session
        for change in bench.changes { try saved.apply(change) }
        #expect(saved.mark == InputMark(position: 2))
        #expect(saved.actions.map(\.outcome?.result) == [nil, .failure(Rejection(.malformed, "no action")), nil])
    }

    @Test
    func `A sender that saves its session pushes nothing before its session and lineage are on the disk`() throws {
        var saved = SavedBench()
        try saved.enqueue(1)
        var bench = SenderBench(resuming: saved.session)
        bench.isDiskSlow = true
        bench.watermark(nil)
        #expect(bench.push().isEmpty)
        #expect(bench.changes.map(\.checkpoint) == [bench.machine.checkpoint])
        bench.written()
        #expect(bench.push().map(\.numbers) == [1...1])
    }

    @Test func `A sender that saves its session pushes before receipts are on the disk`() {
        var bench = Self.open()
        bench.send(2)
        bench.written()
        bench.push()
        bench.receipts(1...1)
        bench.expect(2)
        let count = bench.changes.count
        #expect(bench.push().map(\.numbers) == [2...2])
        #expect(bench.changes.count == count + 1)
    }

    @Test func `A sender that saves its session pushes nothing before an action that is skipped is saved`() {
        var bench = Self.open(maxActionBytes: 10)
        let actions = [3, 11, 3].map { [UInt8](repeating: 7, count: $0) }
        bench.handle { $0.submitted(ActionChunk(actions, first: Ticket(rawValue: 1))) }
        bench.handle { $0.save() }
        bench.written()
        #expect(bench.push().isEmpty)
        #expect(bench.code(Ticket(rawValue: 2)) == nil)
        bench.written()
        #expect(bench.code(Ticket(rawValue: 2)) == .tooLarge)
        #expect(bench.push().map(\.numbers) == [1...2])
    }

    /// The next process would report another outcome, or send the action again, if this one ended in between.
    @Test
    func `A sender that saves its session reports an outcome that it decides itself when that is on the disk`() throws {
        var bench = Self.open()
        let ticket = bench.send()[0]
        bench.written()
        bench.push()
        bench.watermark(nil, lineage: Lineage(bits: 9))
        bench.push()
        #expect(bench.code(ticket) == nil)
        var saved = SavedBench().session
        for change in bench.changes { try saved.apply(change) }
        #expect(saved.outcomes.map(\.code) == [.outcomeUnknown])
        bench.written()
        #expect(bench.code(ticket) == .outcomeUnknown)
    }

    /// Otherwise a process that ends before the report takes the outcome with it.
    @Test
    func `A sender that saves its session keeps an outcome that it decides in the file until it is reported`() throws {
        var bench = Self.open(maxActionBytes: 10)
        let ticket = bench.send(Array(repeating: 7, count: 11))
        bench.written()
        bench.push()
        bench.send()
        var saved = SavedBench().session
        func apply(_ changes: some Sequence<SessionChange>) throws {
            for change in changes {
                try saved.apply(change)
                saved.dropResolved(after: change)
            }
        }
        let written = bench.changes.count
        try apply(bench.changes)
        #expect(saved.actions.map(\.ticket.rawValue) == [1, 2])
        #expect(saved.outcomes.map(\.code) == [.tooLarge])
        bench.written()
        #expect(bench.code(ticket) == .tooLarge)
        bench.push()
        try apply(bench.changes[written...])
        #expect(saved.actions.map(\.ticket.rawValue) == [2])
    }

    @Test(arguments: [(true, .outcomeUnknown), (false, .kept)] as [(Bool, Rejection.Code)])
    func `A sender that saves its session tells whether the file may have a decided outcome that cannot be saved`(
        mayBeSaved: Bool,
        code: Rejection.Code
    ) {
        var bench = Self.open(maxActionBytes: 10)
        let ticket = bench.send(Array(repeating: 7, count: 11))
        bench.written()
        bench.push()
        bench.written(bench.changes.count - 1, failure: SaveFailure("the disk failed", mayBeSaved: mayBeSaved))
        #expect(bench.code(ticket) == nil)
        bench.handle { $0.stop(because: "the disk failed") }
        #expect(bench.code(ticket) == code)
    }

    @Test func `A sender that saves its session saves what is acknowledged, and the end of the input, at once`() {
        var bench = Self.open()
        bench.handle { $0.acknowledge(upTo: Ticket(rawValue: 1)) }
        #expect(bench.changes.last?.acknowledged == Ticket(rawValue: 1))
        bench.handle { $0.inputEnded(at: InputMark(position: 9)) }
        #expect(bench.changes.last?.mark == InputMark(position: 9) && bench.changes.last?.isInputEnded == true)
    }

    @Test func `A sender that saves its session does not collect small chunks, which wait for the disk together`() {
        var bench = Self.open(Limits())
        bench.send()
        bench.written()
        #expect(bench.push().map(\.numbers) == [1...1])
        #expect(bench.machine.minSubmittedBytes == 1)
    }

    /// The next process sends a complete record that it finds. An action of such a record must not be called unsent.
    @Test(arguments: [(true, .outcomeUnknown), (false, .notSent)] as [(Bool, Rejection.Code)])
    func `A sender that saves its session ends when it cannot be saved, and tells which actions the file may have`(
        mayBeSaved: Bool,
        code: Rejection.Code
    ) {
        var bench = Self.open()
        let saved = bench.send(2)
        bench.written()
        bench.push()
        let written = bench.changes.count
        let failed = bench.send(2)
        let late = Ticket(rawValue: 5)
        bench.handle { $0.submitted(ActionChunk([[7]], first: late)) }
        bench.written(written, failure: SaveFailure("the disk failed", mayBeSaved: mayBeSaved))
        #expect(bench.failure == "the disk failed")
        #expect(bench.status == .refused(Rejection(.stopped, "the disk failed")))
        #expect(bench.handle { $0.saved(written, failure: SaveFailure("again", mayBeSaved: true)) } == [], "once")
        bench.handle { $0.stop(because: "the disk failed") }
        #expect(saved.map { bench.code($0) } == [.kept, .kept])
        #expect(failed.map { bench.code($0) } == [code, code])
        #expect(bench.code(late) == .notSent, "it was not passed to the writer")
        #expect(bench.isClosed)
    }

    @Test func `A sender that saves its session gives no action up that it has saved`() {
        var bench = Self.open()
        let ticket = bench.send()[0]
        #expect(bench.giveUp(ticket) == (.kept, nil), "although it may be saved later")
        bench.written()
        #expect(bench.push().map(\.numbers) == [1...1])
        #expect(bench.giveUp(ticket) == (.kept, nil))
    }
}
