import StateCoding
import StateCore
import SyncProtocol
import Testing

/// Records and session files name a session by the digest of its secret; those of version 0.1.0 by the secret.
@Suite struct `A session in a record` {
    private func word(_ bits: UInt64) -> [UInt8] { withUnsafeBytes(of: bits.bigEndian, Array.init) }

    private var secret: [UInt8] { word(Fixture.secret.high) + word(Fixture.secret.low) }
    private var digest: [UInt8] { [1] + word(Fixture.session.high) + word(Fixture.session.low) }

    /// A record of one applied action, which evicts a session.
    private func record(_ session: [UInt8], first: UInt64, forgotten: [UInt8]) -> [UInt8] {
        let run: Value = .array([.bytes(session), 0, .unsigned(first), 0, .null, .array([.bytes([0])])])
        return Value.array([
            1, .unsigned(first - 1), .unsigned(first), 0, 1, .array([run]), .array([.bytes(forgotten)]), .array([]),
        ]).encoded
    }

    @Test func `has one identity in both forms`() throws {
        var history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: PrimaryBench.summary(0))
        for (number, session) in [(UInt64(1), secret), (2, digest)] {
            let record = try BatchRecord(decoding: record(session, first: number, forgotten: word(9) + word(9)))
            #expect(record.runs.map(\.session) == [Fixture.session])
            #expect(record.forgotten == [SessionSecret(high: 9, low: 9).session])
            try history.replay(record, at: JournalSequence(number), limits: Limits())
        }
        var bench = PrimaryBench(history: history)
        // The sender still has its secret, and both actions are known.
        bench.receive(try ActionsFrame(decoding: AnyFrame.pushed(bench.frame(1...3), Fixture.secret).encoded[...]))
        let receipts = bench.turnAndCommit().receipts()
        #expect(receipts[1] == .applied(Revision(1)) && receipts[2] == .applied(Revision(2)))
        #expect(receipts[3] == .applied(Revision(3)))
    }

    @Test func `of zero bytes is the primary's own`() throws {
        let record = try BatchRecord(decoding: record(word(0) + word(0), first: 1, forgotten: digest))
        #expect(record.runs.map(\.session) == [.primary] && record.forgotten == [Fixture.session])
    }

    @Test func `in another form is malformed`() {
        for bytes in [[], [1], Array(digest.dropFirst(2)), [2] + digest.dropFirst(), digest + [0]] as [[UInt8]] {
            #expect(throws: CodingFailure.self) {
                try BatchRecord(decoding: record(bytes, first: 1, forgotten: digest))
            }
        }
    }
}
