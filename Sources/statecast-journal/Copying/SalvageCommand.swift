import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import Statecast

struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Makes a journal of what can still be read of a damaged one, under a new lineage.",
        discussion: """
            It goes as far as any state can be trusted, and says what is lost. The damaged journal stays as it is; no primary \
            may run on it meanwhile.


            """ + CommonOptions.sources
    )

    @Option(
        help: ArgumentHelp(
            "The store's name, for a journal that cannot say it any more. (STATECAST_STORE)",
            valueName: "name"
        )
    )
    var store: String?

    @OptionGroup var common: CommonOptions

    @OptionGroup var journal: JournalArgument

    @Argument(help: "Where to: a directory that does not exist, or is empty.")
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
    /// What is lost.
    fileprivate var lines: [String] {
        let cause = damage.map { ": \($0)" } ?? ""
        let end = copy.to.revision
        let loss =
            switch acknowledged {
            case nil: "lost: perhaps revisions behind \(end); what was acknowledged cannot be read\(cause)"
            case let last? where last == end.next: "lost: revision \(last), which was acknowledged\(cause)"
            case let last? where last > end: "lost: revisions \(end.next) to \(last), which were acknowledged\(cause)"
            default: "lost: nothing that was acknowledged"
            }
        let history = lostHistory.map {
            "lost: the way from revision \($0) to \(copy.from.revision), not what came of it"
        }
        let snapshots = contradicted.map {
            "left out: the snapshot of revision \($0), which is not what the records lead to"
        }
        return [loss] + (history.map { [$0] } ?? []) + snapshots
    }
}
