import ArgumentParser
import CommandLineSupport
import SQLiteJournal
internal import StateCoding
import Statecast
internal import SyncProtocol

struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Says what a journal holds, and who writes it."
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
