import StatecastProtocol

/// The start of a snapshot's file: the snapshot's place in the journal, and the sizes of the parts that follow.
///
/// It holds eight bytes `SCSNAP1\n`; sequence, revision, and the lengths of context and state, 8 bytes each, the least
/// significant first. Context and state follow, and a checksum of everything before it.
package struct SnapshotHeader: Hashable, Sendable {
    package let entry: SnapshotEntry
    package let contextBytes: Int
    package let stateBytes: Int

    /// The size of a header.
    package static let byteCount = 40
    /// The size of the checksum at the end of the file.
    package static let checksumByteCount = 4
    private static let magic = Array("SCSNAP1\n".utf8)

    package init(of snapshot: JournalSnapshot) {
        entry = snapshot.entry
        contextBytes = snapshot.context.count
        stateBytes = snapshot.state.count
    }

    package var encoded: [UInt8] {
        let numbers = [entry.sequence.rawValue, entry.revision.rawValue, UInt64(contextBytes), UInt64(stateBytes)]
        return Self.magic + numbers.flatMap { number in withUnsafeBytes(of: number.littleEndian, Array.init) }
    }

    /// The fault of a header.
    package struct Damage: Error, Hashable {
        package let message: String
    }

    /// Decodes the header of a file of `fileBytes` bytes.
    ///
    /// - Throws: ``Damage`` unless the parts fill the file.
    package init(decoding header: [UInt8], fileBytes: Int) throws(Damage) {
        guard header.count == Self.byteCount, header.starts(with: Self.magic) else {
            throw Damage(message: "it has \(fileBytes) bytes and does not begin like a snapshot")
        }
        let body = fileBytes - Self.byteCount - Self.checksumByteCount
        let (context, state) = (Self.number(24, in: header), Self.number(32, in: header))
        guard body >= 0, context <= UInt64(body), state == UInt64(body) - context else {
            throw Damage(message: "it has \(fileBytes) bytes, not the number that its header gives")
        }
        let sequence = JournalSequence(Self.number(8, in: header))
        entry = SnapshotEntry(sequence: sequence, revision: Revision(Self.number(16, in: header)))
        (contextBytes, stateBytes) = (Int(context), Int(state))
    }

    private static func number(_ offset: Int, in header: [UInt8]) -> UInt64 {
        UInt64(littleEndian: header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) })
    }
}
