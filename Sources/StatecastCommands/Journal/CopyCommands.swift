import ArgumentParser
import Statecast
import StatecastCommandLine
import StatecastSQLite

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies a journal in its current state, also while a primary writes it.",
        discussion: """
            Subcommands that only read work on the copy as on the journal itself. A primary refuses the copy: restore \
            makes a journal of it.
            """
    )

    @OptionGroup var journal: JournalArgument

    @Argument(help: "The destination: a directory that does not exist, or is empty.")
    var to: String

    func run() async throws {
        try await reportingFailures {
            let copy = try JournalReader(at: journal.path).backup(to: to)
            try await LineOutput().write(copy.line("backup", at: to))
        }
    }
}

extension JournalCopy {
    /// Reports the copy, for people and scripts.
    fileprivate func line(_ word: String, at path: String) -> String {
        VisibleText.line(
            "\(word) store=\(identity.store) lineage=\(identity.lineage) from=\(from.revision) to=\(to.revision) "
                + "path=\(path)"
        )
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a journal of a backup, with a new lineage.",
        discussion: "Replicas and senders detect the new lineage, and continue."
    )

    @Argument(help: "The backup's directory.")
    var backup: String

    @Argument(help: "The destination: a directory that does not exist, or is empty.")
    var to: String

    func run() async throws {
        try await reportingFailures {
            let copy = try JournalReader(at: backup).restore(to: to, begun: .now)
            try await LineOutput().write(copy.line("journal", at: to))
        }
    }
}

struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Makes a journal of the readable part of a damaged one, with a new lineage.",
        discussion: """
            It stops at the last state that can be trusted, and reports the losses. The damaged journal is not \
            changed; no primary may run on it meanwhile.


            """ + CommonOptions.sources
    )

    @Option(
        help: ArgumentHelp(
            "The store's name, if the journal has lost it. (STATECAST_STORE)",
            valueName: "name"
        )
    )
    var store: String?

    @OptionGroup var common: CommonOptions

    @OptionGroup var journal: JournalArgument

    @Argument(help: "The destination: a directory that does not exist, or is empty.")
    var to: String

    func run() async throws {
        try await reportingFailures {
            let settings = try await common.settings([.store: .text(store)])
            let name = try await settings.text(.store).map { try StoreName($0) }
            let salvage = try JournalSalvage.salvage(journal.path, to: to, store: name, begun: .now)
            let output = LineOutput()
            try await output.write(salvage.copy.line("journal", at: to))
            for line in salvage.lines { try await output.write(VisibleText.line(line)) }
        }
    }
}

extension JournalSalvage {
    /// Reports the losses.
    fileprivate var lines: [String] {
        let cause = damage.map { ": \($0)" } ?? ""
        let end = copy.to.revision
        let loss =
            switch acknowledged {
            case nil: "lost: perhaps revisions after \(end); the last acknowledged revision cannot be read\(cause)"
            case let last? where last == end.next: "lost: revision \(last), which was acknowledged\(cause)"
            case let last? where last > end: "lost: revisions \(end.next) to \(last), which were acknowledged\(cause)"
            default: "lost: nothing that was acknowledged"
            }
        let history = lostHistory.map {
            "lost: the changes from revision \($0) to \(copy.from.revision), not their result"
        }
        let snapshots = contradicted.map {
            "left out: the snapshot of revision \($0), which contradicts the records"
        }
        return [loss] + (history.map { [$0] } ?? []) + snapshots
    }
}
