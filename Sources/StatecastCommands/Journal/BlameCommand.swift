import ArgumentParser
import Statecast
import StatecastCoding
import StatecastCommandLine
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

struct BlameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Prints which actions last changed a part of the state.",
        discussion: """
            statecast-journal blame /var/lib/statecast/fleet /hosts/web-1/busy

            The journal records a change for each batch of actions. If a batch has several, each may have made the \
            change; those that name a key of the path come first. A change "above" replaced a part of the state that \
            contains this one, or shifted the elements of an array, and may have left it as it was.

            Exit code 66 if the state has nothing at the path, and the journal has no change of it.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The last revision to search, or a time such as 2026-11-28T10:00:00Z. (default: the last revision)",
            valueName: "revision-or-time"
        )
    )
    var at: JournalPlace?

    @Option(help: ArgumentHelp("The number of changes.", valueName: "count"))
    var limit = 1

    @Flag(help: "Print a line of JSON for each change, and one for the end of the search.")
    var json = false

    @OptionGroup var journal: JournalArgument

    @Argument(
        help: ArgumentHelp(
            "A JSON Pointer such as /hosts/web-1/busy, or keys with dots between them, such as hosts.web-1.busy.",
            valueName: "pointer"
        )
    )
    var path: String

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is at least 1.") }
    }

    func run() async throws {
        try await reportingFailures {
            let path = try StatePath(path)
            let reader = try JournalReader(at: journal.path)
            let revision = try at?.revision(in: reader)
            let blame = try reader.blame(path.components, at: revision, limit: limit)
            if let revision {
                let sequence = try reader.sequence(at: revision) ?? reader.contents().last
                try reader.requireReached(revision, by: SnapshotEntry(sequence: sequence, revision: blame.revision))
            }
            let output = LineOutput()
            for change in blame.changes {
                if json {
                    try await output.write(JSONLine(change.fields).description)
                } else {
                    for line in change.lines { try await output.write(VisibleText.line(line)) }
                }
            }
            if json { try await output.write(JSONLine(blame.fields).description) }
            guard blame.changes.isEmpty else { return }
            let state = try reader.walk(to: blame.revision).tree
            guard path.part(of: state) != nil else {
                throw CommandFailure.nothingSelected(
                    "no change of \(path) from revision \(blame.searchedTo) to \(blame.revision), and nothing is "
                        + "there: \(path.hint(in: state))"
                )
            }
            guard !json else { return }
            try await output.write(VisibleText.line("unchanged since \(blame.origin)"))
        }
    }
}

extension Blame {
    /// The place to which the search led, in words.
    fileprivate var origin: String {
        switch boundary {
        case nil: "revision \(searchedTo)"
        case .initial: "revision \(searchedTo), with which the store began"
        case .snapshot: "revision \(searchedTo), with which the kept history begins: earlier records were pruned"
        case .restored: "revision \(searchedTo), which the journal was created from"
        }
    }

    /// The members of the JSON object of the last line.
    fileprivate var fields: [(key: String, value: Value)] {
        [
            ("searchedTo", Value(searchedTo.rawValue)), ("complete", .bool(isComplete)),
            ("boundary", boundary.map { .text($0.rawValue) } ?? .null),
        ]
    }
}

extension Blame.Change {
    fileprivate var lines: [String] {
        let verb =
            switch kind {
            case .set: "set"
            case .child: "changed below"
            case .removed: "removed"
            case .replacedAbove: "changed above"
            }
        let result = value.map { ", now \($0)" } ?? ""
        let author =
            if isConversion {
                ", by a new build, which converted the state"
            } else if isExact {
                ""
            } else {
                ", by one or more of \(actions.count) actions, revisions \(from.next) to \(to)"
            }
        let date = time.map { "  \($0.text)" } ?? ""
        return ["revision \(revision)\(date)  \(verb)\(result)\(author)"] + actions.map { "  " + $0.line }
    }

    /// The members of its JSON object.
    fileprivate var fields: [(key: String, value: Value)] {
        [
            ("revision", Value(revision.rawValue)), ("from", Value(from.rawValue)),
            ("time", time.map { .text($0.text) } ?? .null), ("kind", .text(kind.rawValue)),
        ] + (value.map { [("value", $0)] } ?? []) + [
            ("exact", .bool(isExact)), ("conversion", .bool(isConversion)),
            ("actions", .array(actions.map { .map(ValueMap($0.fields.map { (.text($0.key), $0.value) })) })),
        ]
    }
}

extension RecordedAction {
    /// For people.
    fileprivate var line: String {
        let sender = session == .primary ? "the primary" : "session \(session)"
        let author = user.map { "user \($0), \(sender)" } ?? sender
        return "\(name ?? "?") \(payload?.description ?? "")  revision \(revision)  \(author), number \(number)"
    }
}
