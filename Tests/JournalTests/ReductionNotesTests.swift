import Journal
import StateCore
import SyncProtocol
import Testing

/// What is remembered of a process that ended while it reduced.
@Suite struct `Notes of reductions` {
    private let page = UnsafeMutableRawPointer.allocate(byteCount: ReductionNotes.byteCount, alignment: 8)

    init() { page.initializeMemory(as: UInt8.self, repeating: 0, count: ReductionNotes.byteCount) }

    private func session(_ number: Int) -> SessionID { SessionID(high: UInt64(number), low: 1) }

    /// What the next incarnation finds.
    private func notes() -> ReductionNotes {
        let notes = ReductionNotes(page: page)
        notes.open()
        return notes
    }

    /// The process ends while it reduces.
    private func crash(_ times: UInt64 = 1, of number: Int) {
        for _ in 0..<times { notes().begin(session(number), ActionNumber(1)) }
    }

    @Test func `suspect an action that was begun and not ended`() {
        defer { page.deallocate() }
        notes().begin(session(1), ActionNumber(1))
        let second = notes()
        #expect(second.hasSuspects)
        #expect(!second.isPoison(session(1), ActionNumber(1)))
        second.begin(session(2), ActionNumber(1))
        second.end()
        #expect(!notes().isPoison(session(2), ActionNumber(1)))
    }

    @Test func `call an action poison when it has ended the process so often`() {
        defer { page.deallocate() }
        crash(ReductionNotes.crashesMax - 1, of: 1)
        #expect(!notes().isPoison(session(1), ActionNumber(1)))
        crash(of: 1)
        #expect(notes().isPoison(session(1), ActionNumber(1)))
        #expect(!notes().isPoison(session(1), ActionNumber(2)))
        #expect(!notes().isPoison(session(2), ActionNumber(1)))
    }

    @Test func `count also with others between`() {
        defer { page.deallocate() }
        for _ in 1...ReductionNotes.crashesMax {
            crash(of: 1)
            crash(of: 2)
        }
        let last = notes()
        #expect(last.isPoison(session(1), ActionNumber(1)))
        #expect(last.isPoison(session(2), ActionNumber(1)))
    }

    @Test func `forget an action whose outcome is durable`() {
        defer { page.deallocate() }
        crash(ReductionNotes.crashesMax, of: 1)
        let last = notes()
        last.settled(session(1), ActionNumber(1))
        #expect(!last.hasSuspects)
        last.settled(session(1), ActionNumber(1))
        #expect(!last.hasSuspects)
        #expect(!notes().hasSuspects)
        crash(of: 1)
        #expect(!notes().isPoison(session(1), ActionNumber(1)))
    }

    @Test func `always have room for the latest`() {
        defer { page.deallocate() }
        for number in 1...100 { crash(of: number) }
        for _ in 2...ReductionNotes.crashesMax {
            crash(of: 99)
            crash(of: 100)
        }
        #expect(notes().isPoison(session(99), ActionNumber(1)))
        #expect(notes().isPoison(session(100), ActionNumber(1)))
    }
}
