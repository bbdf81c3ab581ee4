import ArgumentParser
import CommandLineSupport
import CounterApp
import FleetApp
import SQLiteJournal
import StateCoding
import Statecast

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads a whole journal, and reports whether it is intact.",
        discussion: """
            It checks each record's checksum, its position after the previous one, and the state that it leads to; that the \
            records lead to each snapshot; and that no acknowledged action is missing. Exit code 65 if a check fails, with \
            the first damaged revision.
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
            Exit code 1 if it differs, with the first revision: the reducer is not deterministic, or not the one that wrote \
            the journal. For apps of your own use JournalReplay in the library.


            """ + CommonOptions.sources
    )

    @Option(
        help: ArgumentHelp(
            "The reducer's app: fleet or counter. (STATECAST_APP, default: the one whose state the journal has)",
            valueName: "app"
        )
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
            let report = try (named ?? ReplayedApp(of: reader)).report(reader)
            guard let difference = report.difference else {
                let text = "same: revisions \(report.from) to \(report.to), actions: \(report.actions)"
                return try await LineOutput().write(text)
            }
            if let patch = difference.patch {
                let line = JSONLine([
                    "from": Value(difference.revisions.lowerBound.rawValue),
                    "to": Value(difference.revisions.upperBound.rawValue), "patch": patch,
                ])
                try await LineOutput().write(line.description)
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

    /// The app whose state fingerprint the journal's last epoch recorded, or else the one named like the store: the
    /// fingerprint changes from build to build.
    init(of journal: JournalReader) throws {
        let shape = try journal.epochs().last?.fingerprint
        let store = try journal.contents().identity.store.description
        guard let app = Self.allCases.first(where: { $0.fingerprint == shape }) ?? Self(rawValue: store) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: " or ")
            throw CommandFailure.wrongUsage(
                "the journal holds the store \"\(store)\" with a state of no built-in app: name the app with --app "
                    + names
            )
        }
        self = app
    }

    private var fingerprint: UInt64 {
        switch self {
        case .fleet: Schema.fingerprint(of: Fleet.self)
        case .counter: Schema.fingerprint(of: Counter.self)
        }
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
