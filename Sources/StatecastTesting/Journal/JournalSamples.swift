import StatecastCore
import StatecastJournal
import StatecastProtocol

extension JournalIdentity {
    static var sample: JournalIdentity {
        guard let store = try? StoreName("sample") else { preconditionFailure("\"sample\" is not a valid store name") }
        return JournalIdentity(
            store: store,
            lineage: Lineage(bits: 0xA1),
            begun: Timestamp(milliseconds: 1_700_000_000_000)
        )
    }
}

extension EpochStart {
    static func sample(_ epoch: UInt64, at revision: UInt64) -> EpochStart {
        EpochStart(
            epoch: Epoch(epoch),
            revision: Revision(revision),
            stateVersion: UInt64.max - epoch,
            time: Timestamp(milliseconds: 1_700_000_000_000 + Int64(epoch))
        )
    }
}

extension JournalSnapshot {
    /// The snapshot after a record.
    static func sample(_ sequence: UInt64, bytes: Int = 1000) -> JournalSnapshot {
        JournalSnapshot(
            SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(3 * sequence)),
            context: Array("context \(sequence)".utf8),
            state: (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(sequence)) }
        )
    }
}

extension JournalRecord {
    /// A record with three revisions in 100 bytes.
    static func sample(_ sequence: UInt64, bytes: Int = 100) -> JournalRecord {
        JournalRecord(
            sequence: JournalSequence(sequence),
            from: Revision(3 * sequence - 3),
            to: Revision(3 * sequence),
            body: (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ Int(sequence)) }
        )
    }
}
