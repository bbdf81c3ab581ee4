import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import StateCoding
import Statecast
import SyncProtocol

struct ActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "actions",
        abstract: "Prints the actions of a journal, a line of JSON for each.",
        discussion: """
            A rejected action has a code and a message; its revision is the state's at that time.

            {"revision":12,"status":"applied","session":"...","number":3,"time":"...","user":null,\
            "action":"...","payload":{}}
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The first revision. (default: the oldest one in the journal)", valueName: "revision")
    )
    var from: UInt64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The last revision. (default: the last one)", valueName: "revision")
    )
    var to: UInt64?

    @Option(help: ArgumentHelp("Only the actions of one session.", valueName: "session"))
    var sender: String?

    @Option(help: ArgumentHelp("Only the actions with this name.", valueName: "action"))
    var name: String?

    @OptionGroup var journal: JournalArgument

    func validate() throws {
        guard sender.map({ SessionID($0) != nil }) ?? true else {
            throw ValidationError("A session has 32 lower-case hexadecimal digits.")
        }
        guard from ?? 0 <= to ?? .max else {
            throw ValidationError("--from is higher than --to: give the lower revision to --from.")
        }
    }

    func run() async throws {
        try await reportingFailures {
            let session = sender.flatMap { SessionID($0) }
            let revisions = Revision(from ?? 0)...Revision(to ?? .max)
            let reader = try JournalReader(at: journal.path)
            for revision in [from, to] { try revision.map { try reader.requireKept(Revision($0)) } }
            let start = try reader.start(before: revisions.lowerBound)
            var closed: (any Error)?
            try reader.forEachRecord(after: start) { record throws(JournalFailure) in
                guard record.from <= revisions.upperBound else { return false }
                let lines = try ActionLine.lines(of: BatchRecord(reading: record))
                let wanted = lines.filter { line in
                    revisions.contains(line.revision) && session ?? line.session == line.session
                        && (name == nil || name == line.name)
                }
                do { try LineOutput.writeNow(Array(wanted.map { $0.json + "\n" }.joined().utf8)) } catch {
                    closed = error
                }
                return closed == nil
            }
            if let closed { throw closed }
        }
    }
}

extension JournalReader {
    /// The record after which reading finds every action at the revision.
    fileprivate func start(before revision: Revision) throws -> JournalSequence {
        // Records with rejections alone may follow the record that ends at the previous revision.
        let boundary = revision.rawValue == 0 ? nil : try sequence(at: Revision(revision.rawValue - 1))
        guard let oldest = try snapshots().first else {
            throw JournalFailure(.damaged, "the journal has no snapshot: restore a backup")
        }
        return max(boundary ?? oldest.sequence, oldest.sequence)
    }
}

/// An action in a journal, with its outcome.
private struct ActionLine {
    /// The state's revision after the action.
    let revision: Revision
    let session: SessionID
    /// `nil` if the action cannot be decoded.
    let name: String?
    private let number: ActionNumber
    private let run: BatchRecord.Run
    private let payload: Value?
    private let rejection: Rejection?

    /// The actions of a batch, in the order in which the primary received them.
    static func lines(of batch: BatchRecord) -> [ActionLine] {
        var lines: [ActionLine] = []
        var revision = batch.from
        for run in batch.runs {
            var number = run.first
            for entry in run.entries {
                if entry.rejection == nil { revision = revision.next }
                lines.append(ActionLine(entry, of: run, number, revision))
                number = number.next
            }
        }
        return lines
    }

    private init(
        _ entry: BatchRecord.Entry,
        of run: BatchRecord.Run,
        _ number: ActionNumber,
        _ revision: Revision
    ) {
        let parts = (try? Value(decoding: entry.action))?.arrayValue
        name = parts?.first?.textValue
        payload = parts?.last
        (self.number, self.revision, self.run) = (number, revision, run)
        session = run.session
        rejection = entry.rejection
    }

    /// As a line of NDJSON.
    var json: String {
        var fields: [(key: String, value: Value)] = [("revision", Value(revision.rawValue))]
        if let rejection {
            fields += [
                ("status", .text("rejected")), ("code", .text(rejection.code.rawValue)),
                ("message", .text(rejection.message)),
            ]
        } else {
            fields.append(("status", .text("applied")))
        }
        fields += [
            ("session", .text(session.description)), ("number", Value(number.rawValue)),
            ("time", .text(run.time.text)), ("user", run.user.map { .text($0) } ?? .null),
            ("action", name.map { .text($0) } ?? .null), ("payload", payload ?? .null),
        ]
        return JSONLine(fields).description
    }
}
