import ArgumentParser
import Statecast
import StatecastCoding
import StatecastCommandLine
import StatecastJSON
import StatecastProtocol
import StatecastSQLite

struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Prints what a journal contains, and the process that writes it."
    )

    @Flag(help: "Print it as JSON.")
    var json = false

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let info = try JournalReader.info(at: journal.path)
            let output = LineOutput()
            if json { return try await output.write(JSONLine(info.fields).description) }
            let width = info.lines.map(\.label.count).max() ?? 0
            for (label, text) in info.lines {
                let padding = String(repeating: " ", count: width - label.count)
                try await output.write(VisibleText.line(label + padding + "  " + text))
            }
        }
    }
}

extension JournalInfo {
    fileprivate var lines: [(label: String, text: String)] {
        let snapshots = snapshots.map { "revision \($0.entry.revision) (\($0.bytes) bytes)" }
        return [
            ("store", "\(identity.store)"),
            ("lineage", "\(identity.lineage), begun \(identity.begun.text)"),
            ("purpose", purpose.rawValue),
            ("in use", holder.map { "by \($0)" } ?? "no"),
            ("epochs", epochs.last.map { "\(epochs.count), the last one since revision \($0.revision)" } ?? "none"),
            ("revisions", "\(oldest?.revision ?? last.revision) to \(last.revision)"),
            ("acknowledged", acknowledged.map { "revision \($0.revision)" } ?? "cannot be read"),
            ("records", "\(recordCount) (\(recordBytes) bytes)"),
            ("snapshots", snapshots.joined(separator: ", ")),
        ]
    }

    fileprivate var fields: [(key: String, value: Value)] {
        [
            ("store", .text("\(identity.store)")),
            ("lineage", .text("\(identity.lineage)")),
            ("begun", .text(identity.begun.text)),
            ("purpose", .text(purpose.rawValue)),
            ("inUseBy", holder.map { .text($0) } ?? .null),
            ("epochs", .array(epochs.map(\.value))),
            ("from", Value((oldest ?? last).revision.rawValue)),
            ("to", Value(last.revision.rawValue)),
            ("acknowledged", acknowledged.map { Value($0.revision.rawValue) } ?? .null),
            ("records", Value(recordCount)),
            ("bytes", Value(recordBytes)),
            (
                "snapshots",
                .array(
                    snapshots.map { entry, bytes in
                        ["revision": Value(entry.revision.rawValue), "bytes": Value(bytes)]
                    }
                )
            ),
        ]
    }
}

extension EpochStart {
    fileprivate var value: Value {
        ["epoch": Value(epoch.rawValue), "revision": Value(revision.rawValue), "time": .text(time.text)]
    }
}

struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Prints the state at a revision.",
        discussion: """
            {"revision":12,"state":{...}}

            The journal records a state for each batch of actions: the output is the last one at or before the \
            revision, and has its revision. At a time, it is the last one whose actions the primary had received by \
            then, by the primary's clock.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The revision, or a time such as 2026-11-28T10:00:00Z. (default: the last revision)",
            valueName: "revision-or-time"
        )
    )
    var at: JournalPlace?

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let reader = try JournalReader(at: journal.path)
            let revision = try at?.revision(in: reader)
            let walk = try reader.walk(to: revision ?? Revision(.max))
            if let revision { try reader.requireReached(revision, by: walk.place) }
            let line = JSONLine(["revision": Value(walk.place.revision.rawValue), "state": walk.tree])
            try await LineOutput().write(line.description)
        }
    }
}

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Prints the changes from one revision to another, as a JSON Patch (RFC 6902).",
        discussion: """
            {"from":12,"to":20,"patch":[...]}

            The journal records a state for each batch of actions: both are the last ones at or before these \
            revisions, and have their revisions.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The first revision, or a time such as 2026-11-28T10:00:00Z.",
            valueName: "revision-or-time"
        )
    )
    var from: JournalPlace

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The second revision or time, which may be the earlier one.", valueName: "revision-or-time")
    )
    var to: JournalPlace

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let reader = try JournalReader(at: journal.path)
            let (from, to) = (try from.revision(in: reader), try to.revision(in: reader))
            let earlier = try reader.walk(to: min(from, to))
            var later = earlier
            try reader.walkOn(&later, to: max(from, to))
            try reader.requireReached(max(from, to), by: later.place)
            let (start, end) = from <= to ? (earlier, later) : (later, earlier)
            let line = JSONLine([
                "from": Value(start.place.revision.rawValue), "to": Value(end.place.revision.rawValue),
                "patch": try Patch(from: start.tree, to: end.tree).jsonPatch(from: start.tree),
            ])
            try await LineOutput().write(line.description)
        }
    }
}
