import ArgumentParser
import CounterApp
import FleetApp
import Statecast
import StatecastCoding
import StatecastCommandLine
import StatecastJSON
import StatecastSQLite

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads a whole journal, and reports whether it is intact.",
        discussion: """
            It checks each record's checksum, its position after the previous one, and the state that it leads to; \
            that the records lead to each snapshot; and that no acknowledged action is missing. Exit code 65 if a \
            check fails, with the last intact revision.
            """
    )

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let found = try JournalReader(at: journal.path).verify()
            let output = LineOutput()
            try await output.write(
                "whole: revisions \(found.from.revision) to \(found.to.revision), snapshots: \(found.snapshotCount)"
            )
            if let tail = found.tail {
                try await output.write(
                    "after that, never acknowledged, dropped by the next start: " + VisibleText.line(tail)
                )
            }
        }
    }
}

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Runs a journal's actions through this build's reducer, and reports where the outcome differs.",
        discussion: """
            Exit code 1 if it differs, with the first revision: the reducer is not deterministic, or not the one that \
            wrote the journal. For apps of your own use JournalReplay in the library.


            """ + CommonOptions.sources
    )

    @Option(
        help: ArgumentHelp(
            "The reducer's app: fleet or counter. (STATECAST_APP, default: the one whose state the journal has)",
            valueName: "app"
        ),
        completion: .values(of: ReplayedApp.self)
    )
    var app: String?

    @OptionGroup var common: CommonOptions

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let settings = try await common.settings([.app: .text(app)])
            let isNamed = try await settings.text(.app) != nil
            let named = isNamed ? try await settings.choice(.app, default: ReplayedApp.fleet) : nil
            let reader = try JournalReader(at: journal.path)
            let report = try named?.report(reader) ?? ReplayedApp.anyReport(reader)
            guard let difference = report.difference else {
                let text = "same: revisions \(report.from) to \(report.to), actions: \(report.actions)"
                return try await LineOutput().write(text)
            }
            if let patch = difference.patch {
                let line = JSONLine([
                    "from": Value(difference.revisions.lowerBound.rawValue),
                    "to": Value(difference.revisions.upperBound.rawValue),
                    "patch": try patch.jsonPatch(from: difference.recorded),
                ])
                // A reader that needs no patch does not make the outcomes the same.
                do { try await LineOutput().write(line.description) } catch is OutputClosed {}
            }
            throw CommandFailure.failed(
                "different from revision \(difference.revisions.lowerBound) on: \(difference.reason)"
            )
        }
    }
}

/// The apps whose reducers are built in: those that statecast-primary serves.
private enum ReplayedApp: String, CaseIterable {
    case fleet, counter

    /// The report of the app whose state the journal holds. The app that is named like the store comes first.
    static func anyReport(_ journal: JournalReader) throws -> JournalReplayReport {
        let store = try journal.contents().identity.store.description
        let named = Self(rawValue: store)
        for app in [named].compactMap(\.self) + Self.allCases.filter({ $0 != named }) {
            do { return try app.replay(journal) } catch let failure as JournalFailure where failure.code == .misfit {}
        }
        if let named { return try named.report(journal) }
        let names = Self.allCases.map(\.rawValue).joined(separator: " or ")
        throw CommandFailure.wrongUsage(
            "the journal holds the store \"\(store)\" with a state of no app that is built in (\(names)): replay it "
                + "with JournalReplay, in a program that has its types"
        )
    }

    /// Replays the journal, and names the app in the error if the journal does not fit it.
    func report(_ journal: JournalReader) throws -> JournalReplayReport {
        do { return try replay(journal) } catch let failure as JournalFailure where failure.code == .misfit {
            throw CommandFailure.failed(
                "\(failure) with \"\(self)\": if the journal is another app's, name that with --app"
            )
        }
    }

    private func replay(_ journal: JournalReader) throws -> JournalReplayReport {
        switch self {
        case .fleet: try JournalReplay(of: Fleet.self, actions: Fleet.actions, reducer: Fleet.reducer).run(journal)
        case .counter:
            try JournalReplay(of: Counter.self, actions: Counter.actions, reducer: Counter.reducer).run(journal)
        }
    }
}
