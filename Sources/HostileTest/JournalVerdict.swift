import FleetApp
import Statecast
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

/// Compares a journal with the receipts of the honest senders.
struct JournalVerdict {
    private(set) var faults: [String] = []
    /// The number of applied actions of all members.
    private(set) var actions = 0
    /// The revisions of each honest session's actions, the one of number 1 first; 0 if the action was rejected.
    private var revisions: [SessionID: [UInt64]] = [:]
    private var last: [SessionID: ActionNumber] = [:]
    private let state: Fleet
    private let head: Revision

    init(
        at path: String,
        _ records: [HonestSender.Record],
        _ replica: StateSnapshot<Value>?
    ) throws {
        let journal = try JournalReader(at: path)
        let walk = try journal.walk(to: Revision(.max))
        state = try StateDecoder().decode(Fleet.self, from: walk.tree)
        head = walk.place.revision
        let receipts = records.flatMap(\.receipts)
        for receipt in receipts { revisions[receipt.session] = [] }
        try journal.forEachRecord(after: JournalSequence(0)) { record throws(JournalFailure) in
            check(try BatchRecord(reading: record))
            return true
        }
        do { _ = try journal.verify() } catch { faults.append("\(error)") }
        for failure in Set(records.flatMap(\.failures)) {
            faults.append("an honest action was not applied: \(failure)")
        }
        check(receipts)
        try check(replica)
    }

    private mutating func check(_ record: BatchRecord) {
        var revision = record.from
        // A forgotten session may be opened again, with any number.
        for session in record.forgotten { last[session] = nil }
        for run in record.runs {
            if let last = last[run.session], run.first <= last {
                faults.append("session \(run.session) has number \(run.first) twice")
            }
            last[run.session] = run.first.advanced(by: run.entries.count - 1)
            for (offset, entry) in run.entries.enumerated() {
                if entry.rejection == nil { revision = revision.next }
                guard let known = revisions[run.session]?.count else { continue }
                if run.first.advanced(by: offset).rawValue != UInt64(known) + 1 {
                    faults.append("session \(run.session) has number \(run.first) after \(known) numbers")
                }
                revisions[run.session]?.append(entry.rejection == nil ? revision.rawValue : 0)
            }
        }
        actions += revision.distance(beyond: record.from)
    }

    /// Each receipt has its action in the journal, each action of the honest sessions a receipt, and the state counts
    /// each once.
    private mutating func check(_ receipts: [Receipt]) {
        let wrong = receipts.filter { receipt in
            let index = Int(receipt.number.rawValue) - 1
            guard let revisions = revisions[receipt.session], revisions.indices.contains(index) else { return true }
            return revisions[index] != receipt.revision.rawValue
        }
        if let first = wrong.first {
            faults.append("the journal has no action for \(wrong.count) receipts, such as \(first)")
        }
        let journaled = revisions.values.reduce(0) { $0 + $1.count }
        if journaled != receipts.count || Set(receipts.map(\.revision)).count != receipts.count {
            faults.append("\(journaled) honest actions are in the journal, the senders have \(receipts.count) receipts")
        }
        let samples = state.hosts.values.filter { $0.name.hasPrefix("honest") }.reduce(0) { $0 + $1.samples }
        if samples != receipts.count {
            faults.append("the state has \(samples) samples of honest senders, which have \(receipts.count) receipts")
        }
    }

    private mutating func check(_ replica: StateSnapshot<Value>?) throws {
        guard let replica, replica.revision == head else {
            return faults.append(
                "the replica ended at \(replica.map { "\($0.revision)" } ?? "nothing"), not at \(head)"
            )
        }
        if try StateDecoder().decode(Fleet.self, from: replica.state) != state {
            faults.append("the replica's state is not the journal's")
        }
    }
}
