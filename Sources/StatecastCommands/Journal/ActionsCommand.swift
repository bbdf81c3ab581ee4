import ArgumentParser
import Statecast
import StatecastCoding
import StatecastCommandLine
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

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
        help: ArgumentHelp(
            "The first revision, or a time such as 2026-11-28T10:00:00Z. (default: the oldest revision in the journal)",
            valueName: "revision-or-time"
        )
    )
    var from: JournalPlace?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The last revision, or the time of the last action. (default: the last revision)",
            valueName: "revision-or-time"
        )
    )
    var to: JournalPlace?

    @Option(help: ArgumentHelp("Only the actions of one session.", valueName: "session"))
    var sender: String?

    @Option(help: ArgumentHelp("Only the actions with this name.", valueName: "action"))
    var name: String?

    @OptionGroup var journal: JournalArgument

    func validate() throws {
        guard sender.map({ SessionID($0) != nil }) ?? true else {
            throw ValidationError("A session has 32 lower-case hexadecimal digits.")
        }
        switch (from, to) {
        case (.revision(let from), .revision(let to)) where from > to:
            throw ValidationError("--from is higher than --to: give the lower revision to --from.")
        case (.time(let from), .time(let to)) where from > to:
            throw ValidationError("--from is later than --to: give the earlier time to --from.")
        default: break
        }
    }

    func run() async throws {
        try await reportingFailures {
            let session = sender.flatMap { SessionID($0) }
            let reader = try JournalReader(at: journal.path)
            for case .revision(let revision)? in [from, to] { try reader.requireKept(revision) }
            let start = try reader.start(before: from?.revision ?? Revision(0))
            var closed: (any Error)?
            var names: Set<String> = []
            try reader.forEachRecord(after: start) { record throws(JournalFailure) in
                guard record.from <= to?.revision ?? Revision(.max) else { return false }
                let actions = try RecordedAction.list(reading: record)
                let wanted = actions.filter { action in
                    action.isFrom(from) && action.isTo(to) && session ?? action.session == action.session
                        && (name == nil || name == action.name)
                }
                if name != nil { names.formUnion(actions.compactMap(\.name)) }
                let lines = wanted.map { JSONLine($0.fields).description + "\n" }
                do { try LineOutput.writeNow(Array(lines.joined().utf8)) } catch {
                    closed = error
                }
                return closed == nil
            }
            if let closed { throw closed }
            guard let name, !names.contains(name) else { return }
            let hint = name.nearest(among: names).map { "; did you mean \"\($0)\"?" } ?? ""
            throw CommandFailure.failed("the journal has no action \"\(name)\" in this range\(hint)")
        }
    }
}

extension JournalPlace {
    /// `nil` for a time.
    fileprivate var revision: Revision? { if case .revision(let revision) = self { revision } else { nil } }
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

extension RecordedAction {
    /// Whether it is at a place or after it.
    fileprivate func isFrom(_ place: JournalPlace?) -> Bool {
        switch place {
        case nil: true
        case .revision(let first): revision >= first
        case .time(let first): time >= first
        }
    }

    /// Whether it is at a place or before it.
    fileprivate func isTo(_ place: JournalPlace?) -> Bool {
        switch place {
        case nil: true
        case .revision(let last): revision <= last
        case .time(let last): time <= last
        }
    }

    /// The members of its JSON object.
    var fields: [(key: String, value: Value)] {
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
            ("time", .text(time.text)), ("user", user.map { .text($0) } ?? .null),
            ("action", name.map { .text($0) } ?? .null), ("payload", payload ?? .null),
        ]
        return fields
    }
}
