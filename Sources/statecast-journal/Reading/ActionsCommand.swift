import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import Statecast
internal import SyncProtocol

struct ActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "actions",
        abstract: "Prints the actions that a journal holds, a line of JSON for each.",
        discussion: """
            Of a rejected action, which has a code and a message, the revision is the one at which the state stood.

            {"revision":12,"status":"applied","session":"...","number":3,"time":"...","user":null,"action":"...","payload":{}}
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The first revision. (default: the first one that is kept)", valueName: "revision")
    )
    var from: UInt64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The last revision. (default: the last one)", valueName: "revision")
    )
    var to: UInt64?

    @Option(help: ArgumentHelp("Only those of one sender.", valueName: "session"))
    var sender: String?

    @Option(help: ArgumentHelp("Only those of one name.", valueName: "action"))
    var name: String?

    @OptionGroup var journal: JournalArgument

    func validate() throws {
        guard sender.map({ SessionID($0) != nil }) ?? true else {
            throw ValidationError("A session has 32 lower-case hexadecimal digits.")
        }
        guard from ?? 0 <= to ?? .max else {
            throw ValidationError("The first revision lies behind the last one: give the lower one to --from.")
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
    /// Behind which record to begin, to meet all that stands at a revision.
    fileprivate func start(before revision: Revision) throws -> JournalSequence {
        // The record that ends there may be followed by others that only hold rejections.
        let boundary = revision.rawValue == 0 ? nil : try sequence(at: Revision(revision.rawValue - 1))
        guard let oldest = try snapshots().first else {
            throw JournalFailure(.damaged, "the journal has no snapshot: restore a backup")
        }
        return max(boundary ?? oldest.sequence, oldest.sequence)
    }
}
