import Foundation
import Journal
import SQLiteJournal
import Statecast
import SyncProtocol

/// One commit after the other, each of one record: the part of the disk in the path of a single action.
struct CommitAlone {
    private let journal: SQLiteJournal
    private let folder: String
    /// The body of a record: an action, its patch, and their heads.
    private let body: [UInt8]
    private var last = JournalSequence(0)

    init(actionBytes: Int, durability: Durability) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)").path
        journal = SQLiteJournal(at: folder, durability: durability)
        body = (0..<2 * actionBytes + 50).map { UInt8(truncatingIfNeeded: $0) }
        _ = try journal.open()
        let now = Timestamp(milliseconds: 0)
        let identity = JournalIdentity(store: try StoreName("marks"), lineage: Lineage(bits: 1), begun: now)
        let entry = SnapshotEntry(sequence: JournalSequence(0), revision: 0)
        try journal.begin(identity, from: JournalSnapshot(entry, context: [], state: [0]))
        try journal.claim(EpochStart(epoch: Epoch(1), revision: 0, stateVersion: 0, time: now))
    }

    /// The durations of single commits, on the calling thread.
    mutating func latency(commits: Int) throws -> RawPipe.Latency {
        var samples: [Duration] = []
        for _ in 0..<commits {
            let next = JournalSequence(last.rawValue + 1)
            let record = JournalRecord(
                sequence: next,
                from: Revision(last.rawValue),
                to: Revision(next.rawValue),
                body: body
            )
            let start = ContinuousClock.now
            try journal.append([record])
            samples.append(start.duration(to: .now))
            last = next
        }
        return RawPipe.Latency(samples: samples.sorted())
    }

    func close() throws {
        journal.close()
        try FileManager.default.removeItem(atPath: folder)
    }
}
