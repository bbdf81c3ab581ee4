import StatecastCoding
import StatecastProtocol
import Testing

/// Records and session files name a session by the digest of its secret.
@Suite struct `A session in a record` {
    private func word(_ bits: UInt64) -> [UInt8] { withUnsafeBytes(of: bits.bigEndian, Array.init) }

    private var digest: [UInt8] { [1] + word(Fixture.session.high) + word(Fixture.session.low) }

    /// A record of one applied action.
    private func record(_ session: [UInt8]) -> [UInt8] {
        let run: Value = .array([.bytes(session), 0, 1, 0, .null, .array([.bytes([0])])])
        return Value.array([1, 0, 1, 0, 1, .array([run]), .array([]), .array([])]).encoded
    }

    @Test func `A session in a record has 17 bytes`() throws {
        #expect(try BatchRecord(decoding: record(digest)).runs.map(\.session) == [Fixture.session])
    }

    @Test func `A session in a record in another form is malformed`() {
        let forms: [[UInt8]] = [
            [], [1], Array(digest.dropFirst()), Array(digest.dropFirst(2)), [2] + digest.dropFirst(), digest + [0],
        ]
        for bytes in forms {
            #expect(throws: CodingFailure.self) { try BatchRecord(decoding: record(bytes)) }
        }
    }
}
