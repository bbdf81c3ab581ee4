import CounterApp
import Foundation
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

/// Compares the journal with the outputs of all senders and replicas.
struct CrashVerdict {
    private(set) var faults: [String] = []
    private var actions = 0
    private var receipts = 0
    private var states = 0
    private var epochs = 0
    private var sessions: Set<SessionID> = []

    init(_ plan: CrashPlan) throws {
        let history = try JournaledHistory(plan.journal)
        do { _ = try JournalReader(at: plan.journal).verify() } catch { faults.append("\(error)") }
        epochs = history.epochs
        let actions = history.applied.count
        self.actions = actions
        let expected = plan.actions * plan.senders
        expect(actions == expected, "\(expected) actions were to be sent, the journal has \(actions)")
        expect(Set(history.applied).count == actions, "the journal has an action twice")
        expect(
            history.state.counter == actions,
            "\(actions) actions were applied, and the counter stands at \(history.state.counter)"
        )
        for sender in 0..<plan.senders { try check(sender, plan, history) }
        let sessions = sessions
        expect(sessions.count == plan.senders, "\(plan.senders) senders had receipts from \(sessions.count) sessions")
        for session in sessions {
            let numbers = history.applied.filter { $0.session == session }.map(\.number.rawValue)
            expect(
                numbers.elementsEqual(1...UInt64(plan.actions)),
                "session \(session) has its actions in another order than they were sent"
            )
        }
        for replica in 0..<plan.replicas { try check(replica: replica, plan, history) }
    }

    private mutating func expect(_ condition: Bool, _ fault: @autoclosure () -> String) {
        if !condition { faults.append(fault()) }
    }

    /// Checks that the journal has the action of each receipt at its revision.
    private mutating func check(_ sender: Int, _ plan: CrashPlan, _ history: JournaledHistory) throws {
        struct Line: Decodable {
            let number: UInt64?
            let status: String
            let revision: UInt64?
        }
        var revisions: [UInt64: UInt64] = [:]
        for line in try lines(plan.receipts(sender)) {
            // A kill may have cut off a line.
            guard let receipt = try? JSONDecoder().decode(Line.self, from: line) else { continue }
            guard receipt.status == "applied", let number = receipt.number, let revision = receipt.revision else {
                faults.append("sender \(sender): \(String(decoding: line, as: UTF8.self))")
                continue
            }
            receipts += 1
            let index = Int(revision) - 1
            let applied = history.applied.indices.contains(index) ? history.applied[index] : nil
            if let applied { sessions.insert(applied.session) }
            expect(
                applied?.number.rawValue == number,
                "sender \(sender) got revision \(revision) for number \(number), which the journal does not have there"
            )
            expect(
                revisions.updateValue(revision, forKey: number) ?? revision == revision,
                "sender \(sender) got two revisions for number \(number)"
            )
        }
    }

    /// Checks that a replica never went back, and ends at the journal's state.
    private mutating func check(replica: Int, _ plan: CrashPlan, _ history: JournaledHistory) throws {
        struct Line: Decodable {
            let epoch: UInt64
            let revision: UInt64
            let state: Counter
        }
        var last: Line?
        for line in try lines(plan.states(replica)) {
            let shown = try JSONDecoder().decode(Line.self, from: line)
            states += 1
            if let last {
                expect(
                    shown.revision >= last.revision && shown.epoch >= last.epoch,
                    "replica \(replica) went from \(last.epoch).\(last.revision) to \(shown.epoch).\(shown.revision)"
                )
            }
            // Each action increases the counter by 1.
            expect(
                shown.state.counter == Int(shown.revision),
                "replica \(replica) showed \(shown.state.counter) at revision \(shown.revision)"
            )
            last = shown
        }
        expect(last?.state == history.state, "replica \(replica) ended with \(String(describing: last))")
    }

    private func lines(_ path: String) throws -> [Data] {
        try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n")).map { Data($0) }
    }

    func report(_ counts: CrashCluster.Counts) -> String {
        let shown = faults.prefix(20).map { "FAULT \($0)\n" }.joined()
        return shown + """
            primary killed \(counts.primaryKills) times under load and \(counts.startingKills) times while it started, \
            senders \(counts.senderKills) times; \(epochs) epochs
            the disk was filled \(counts.fullDisks) times, and its failures ended \(counts.failures) primaries
            \(actions) actions in the journal, \(receipts) receipts, \(states) states shown
            \(faults.isEmpty ? "nothing lost, nothing doubled" : "\(faults.count) faults")
            """
    }
}

/// The applied actions and the last state of a journal.
private struct JournaledHistory {
    /// In order of their revisions.
    private(set) var applied: [AppliedAction] = []
    private(set) var state: Counter
    let epochs: Int

    struct AppliedAction: Hashable {
        let session: SessionID
        let number: ActionNumber
    }

    init(_ path: String) throws {
        let journal = try JournalReader(at: path)
        epochs = try journal.epochs().count
        state = try StateDecoder().decode(Counter.self, from: journal.walk(to: Revision(.max)).tree)
        try journal.forEachRecord(after: JournalSequence(0)) { record throws(JournalFailure) in
            let batch = try BatchRecord(reading: record)
            for run in batch.runs {
                for (offset, entry) in run.entries.enumerated() where entry.rejection == nil {
                    applied.append(AppliedAction(session: run.session, number: run.first.advanced(by: offset)))
                }
            }
            return true
        }
    }
}
