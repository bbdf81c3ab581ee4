import ArgumentParser
import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

/// One commit after the other, each of one record: the part of the disk in the path of a single action.
struct CommitWorkload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "commit",
        abstract: "Single commits of the journal alone, with durability full."
    )

    @Option(help: "Commits of the round.") var actions = 2000
    @Option(help: "Bytes of an action; a record also has its patch and their heads.") var bytes = 100

    func run() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "statecast-bench-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let journal = SQLiteJournal(at: folder, durability: .full)
        _ = try journal.open()
        defer { journal.close() }
        let now = Timestamp(milliseconds: 0)
        let identity = JournalIdentity(store: try StoreName("bench"), lineage: Lineage(bits: 1), begun: now)
        let entry = SnapshotEntry(sequence: JournalSequence(0), revision: 0)
        try journal.begin(identity, from: JournalSnapshot(entry, context: [], state: [0]))
        try journal.claim(EpochStart(epoch: Epoch(1), revision: 0, stateVersion: 0, time: now))
        let body = (0..<2 * bytes + 50).map { UInt8(truncatingIfNeeded: $0) }
        var samples: [UInt64] = []
        for number in 1...UInt64(actions) {
            let record = JournalRecord(
                sequence: JournalSequence(number),
                from: Revision(number - 1),
                to: Revision(number),
                body: body
            )
            let start = monotonicNow()
            try journal.append([record])
            samples.append(monotonicNow() - start)
        }
        var figures = Figures()
        figures.add(latencies: samples)
        try figures.print()
    }
}
