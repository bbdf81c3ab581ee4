import CounterApp
import Foundation
import Statecast
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import Testing

@testable import StatecastSQLite

private let onLoopback = PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")

/// Journals and session files that earlier releases wrote, in `Golden/RELEASE`. This build must read and continue them.
///
/// Each release adds its own before it is tagged, and never changes those of earlier releases: write the files with
/// `STATECAST_GOLDEN=RELEASE swift test --filter 'can be written by this build'`, add the release to ``releases``, and
/// commit both.
@Suite(.timeLimit(.minutes(10))) struct `Golden files of a release` {
    static let releases = ["0.2"]

    /// A copy of the files of one release: opening a journal changes it.
    private struct Golden {
        private let folder = NewPath()
        let expected: Expected

        init(_ release: String) throws {
            let source = Self.folder(of: release)
            try FileManager.default.copyItem(atPath: source, toPath: folder.path)
            let json = try Data(contentsOf: URL(filePath: source + "/expected.json"))
            expected = try JSONDecoder().decode(Expected.self, from: json)
        }

        static func folder(of release: String) -> String {
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(release)").path
        }

        var journal: String { folder.path + "/journal" }

        /// The settings of a primary with the journal, and of its senders.
        func configurations(withKeys: Bool) throws -> (PrimaryConfiguration, SenderConfiguration) {
            var (primary, sender) = (onLoopback, SenderConfiguration())
            if withKeys {
                let (keys, member) = (NodeKeys.generate(), NodeKeys.generate())
                let list = folder.path + "/access"
                try Data("\(member.publicKey) member send=*/*\n".utf8).write(to: URL(filePath: list))
                primary.receipts = "tcp://127.0.0.1:*"
                primary.security = PrimarySecurity(keys: keys, accessList: list)
                sender.security = ClientSecurity(keys: member, primary: keys.publicKey)
            }
            return (primary, sender)
        }

        func sender(
            _ session: String,
            from endpoint: String,
            _ configuration: SenderConfiguration
        ) throws -> ActionSender {
            let file = try SessionFile(at: "\(folder.path)/\(session)", store: Counter.storeName)
            let sender = try ActionSender(
                store: Counter.storeName,
                from: endpoint,
                session: file,
                configuration: configuration
            )
            Task { try await sender.run() }
            return sender
        }
    }

    // MARK: Reading

    @Test(arguments: releases)
    func `Golden files of a release are whole, and hold the same state, sessions and outcomes`(release: String) throws {
        let golden = try Golden(release)
        let expected = golden.expected
        let reader = try JournalReader(at: golden.journal)
        let verified = try reader.verify()
        #expect(verified.to.revision.rawValue == expected.revision)
        #expect(verified.to.sequence.rawValue == expected.records)
        let contents = try reader.contents()
        #expect(contents.identity.store.text == Counter.storeName)
        #expect(contents.identity.lineage.description == expected.lineage)
        #expect(contents.epochs.map(\.revision.rawValue) == expected.epochs)
        #expect(try reader.snapshots().map(\.revision.rawValue) == expected.snapshots)
        let walk = try reader.walk(to: Revision(.max))
        #expect(try StateDecoder().decode(Counter.self, from: walk.tree) == expected.state)

        var outcomes: Set<Expected.Outcome> = []
        try reader.forEachRecord(after: JournalSequence(0)) { record throws(JournalFailure) in
            let batch = try BatchRecord(reading: record)
            var revision = batch.from
            for run in batch.runs {
                for (index, entry) in run.entries.enumerated() {
                    if entry.rejection == nil { revision = revision.next }
                    outcomes.insert(
                        Expected.Outcome(
                            session: run.session.description,
                            number: run.first.rawValue + UInt64(index),
                            revision: entry.rejection == nil ? revision.rawValue : nil,
                            code: entry.rejection?.code.description
                        )
                    )
                }
            }
            return true
        }
        #expect(outcomes == Set(expected.outcomes))
    }

    // MARK: Continuing

    @Test(arguments: releases, [false, true])
    func `A release's golden files are continued, and no action is lost or applied twice`(
        release: String,
        withKeys: Bool
    ) async throws {
        let golden = try Golden(release)
        let expected = golden.expected
        let (configuration, senders) = try golden.configurations(withKeys: withKeys)
        let (primary, endpoint) = try await Self.primary(golden.journal, configuration)
        #expect(primary.state == expected.state)
        #expect(await primary.position?.lineage.description == expected.lineage)
        #expect(await primary.revision.rawValue == expected.revision)

        // These were applied before the journal was copied: the primary answers with the outcomes that it remembers.
        let applied = try golden.sender("applied.session", from: endpoint, senders)
        #expect(try await Self.outcomes(of: applied.resumed) == expected.applied)
        #expect(primary.state == expected.state)
        let next = try await applied.send(CounterIncreaseRequested())
        #expect(next.session.description == expected.applied.last?.session)
        #expect(next.number.rawValue == (expected.applied.last?.number ?? 0) + 1)
        await applied.close()

        // These never reached a primary.
        let unsent = try golden.sender("unsent.session", from: endpoint, senders)
        #expect(unsent.resumed.map(\.name) == expected.unsent)
        #expect(unsent.resumed.map(\.position) == [101, 102])
        let outcomes = try await Self.outcomes(of: unsent.resumed)
        #expect(outcomes.map(\.revision) == [expected.revision + 2, expected.revision + 3])
        await unsent.close()

        var state = expected.state
        state.counter += 3 * state.step
        #expect(primary.state == state)
        await primary.stop()
        let verified = try JournalReader(at: golden.journal).verify()
        #expect(verified.to.revision.rawValue == expected.revision + 3)
        let users = try Self.users(of: golden.journal, after: JournalSequence(expected.records))
        #expect(
            users == (withKeys ? ["member"] : [nil]),
            "the sessions belong to the first user who shows their secrets"
        )
    }

    private static func users(of journal: String, after last: JournalSequence) throws -> Set<String?> {
        var users: Set<String?> = []
        try JournalReader(at: journal).forEachRecord(after: last) { record throws(JournalFailure) in
            users.formUnion(try BatchRecord(reading: record).runs.map(\.user))
            return true
        }
        return users
    }

    // MARK: Writing

    @Test(.enabled(if: ProcessInfo.processInfo.environment["STATECAST_GOLDEN"] != nil))
    func `Golden files of a release can be written by this build`() async throws {
        let release = try #require(ProcessInfo.processInfo.environment["STATECAST_GOLDEN"])
        let target = Golden.folder(of: release)
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try await GoldenWriter(target).write()
    }

    fileprivate static func primary(
        _ journal: String,
        _ configuration: PrimaryConfiguration = onLoopback
    ) async throws -> (Primary<Counter>, endpoint: String) {
        let primary = try Primary(
            store: Counter.storeName,
            state: Counter(),
            actions: Counter.actions,
            journal: SQLiteJournal(at: journal),
            configuration: configuration,
            reducer: Counter.reducer
        )
        let ready = try await primary.start()
        return (primary, ready.receipts ?? ready.publish)
    }

    fileprivate static func outcomes(of actions: [ResumedAction]) async throws -> [Expected.Outcome] {
        var outcomes: [Expected.Outcome] = []
        for action in actions { outcomes.append(try Expected.Outcome(try await action.receipt.outcome())) }
        return outcomes
    }
}

/// The content of `expected.json`, which describes the files beside it.
private struct Expected: Codable {
    struct Outcome: Codable, Hashable {
        var session: String
        var number: UInt64
        /// The revision of an applied action.
        var revision: UInt64?
        /// The code of a rejected action.
        var code: String?
    }

    var lineage: String
    /// The revision at which each epoch began.
    var epochs: [UInt64]
    var snapshots: [UInt64]
    var records: UInt64
    var revision: UInt64
    var state: Counter
    var outcomes: [Outcome]
    /// Outcomes of the actions in `applied.session`, which does not contain them.
    var applied: [Outcome]
    /// Names of the actions in `unsent.session`.
    var unsent: [String]
}

extension Expected.Outcome {
    init(_ outcome: ActionOutcome) throws {
        session = try #require(outcome.session).description
        number = try #require(outcome.number).rawValue
        switch outcome.result {
        case .success(let receipt): revision = receipt.revision.rawValue
        case .failure(let rejection): code = rejection.code.description
        }
    }
}

/// Writes the golden files of this build: two senders, two incarnations of the primary, the second one as after a
/// crash.
private final class GoldenWriter {
    private let target: String
    private let folder = NewPath()
    private var outcomes: [Expected.Outcome] = []

    init(_ target: String) throws {
        self.target = target
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
    }

    private var journal: String { folder.path + "/journal" }

    func write() async throws {
        let (first, firstEndpoint) = try await `Golden files of a release`.primary(journal)
        try await sendMany("applied.session", "unsent.session", from: firstEndpoint, rounds: 60, burst: 30)
        await first.stop()
        try await leave([1, 2, 3], in: "applied.session")
        try keep("applied.session")

        let (second, endpoint) = try await `Golden files of a release`.primary(journal)
        let sender = try sender("applied.session", from: endpoint)
        let applied = try await `Golden files of a release`.outcomes(of: sender.resumed)
        outcomes += applied
        await sender.close()
        // "applied.session" sends nothing more: its stored copy must contain its newest state.
        try await sendMany("other.session", "unsent.session", from: endpoint, rounds: 20, burst: 5)
        try copyJournal()
        let (state, position) = (second.state, try #require(await second.position))
        await second.stop()
        try await leave([101, 102], in: "unsent.session")
        try keep("unsent.session")

        let reader = try JournalReader(at: target + "/journal")
        defer { removeExtraFiles() }
        let expected = Expected(
            lineage: position.lineage.description,
            epochs: try reader.epochs().map(\.revision.rawValue),
            snapshots: try reader.snapshots().map(\.revision.rawValue),
            records: try reader.contents().last.rawValue,
            revision: position.revision.rawValue,
            state: state,
            outcomes: outcomes,
            applied: applied,
            unsent: Array(repeating: CounterIncreaseRequested.name, count: 2)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(expected).write(to: URL(filePath: target + "/expected.json"))
    }

    /// One action at a time, some of which are rejected, and then several at once.
    private func sendMany(
        _ first: String,
        _ second: String,
        from endpoint: String,
        rounds: Int,
        burst: Int
    ) async throws {
        let (one, two) = (try sender(first, from: endpoint), try sender(second, from: endpoint))
        for round in 1...rounds {
            try await note(one.submit(CounterIncreaseRequested()))
            switch round % 4 {
            case 0: try await note(two.submit(named: "CounterReset", payload: [:]))
            case 1: try await note(two.submit(StepChangeRequested(step: round)))
            default: try await note(two.submit(CounterDecreaseRequested()))
            }
        }
        var pending: [PendingReceipt] = []
        for _ in 0..<burst { pending.append(try await one.submit(CounterIncreaseRequested())) }
        for receipt in pending { try await note(receipt) }
        await one.close()
        await two.close()
    }

    private func note(_ receipt: PendingReceipt) async throws {
        outcomes.append(try Expected.Outcome(try await receipt.outcome()))
    }

    /// Submits actions while there is no primary.
    private func leave(_ positions: [UInt64], in session: String) async throws {
        let sender = try sender(session, from: "ipc://\(folder.path)/missing")
        for position in positions { _ = try await sender.submit(CounterIncreaseRequested(), position: position) }
        await sender.close()
    }

    private func sender(_ session: String, from endpoint: String) throws -> ActionSender {
        let file = try SessionFile(at: "\(folder.path)/\(session)", store: Counter.storeName)
        let sender = try ActionSender(store: Counter.storeName, from: endpoint, session: file)
        Task { try await sender.run() }
        return sender
    }

    private func keep(_ file: String) throws {
        try FileManager.default.copyItem(atPath: "\(folder.path)/\(file)", toPath: "\(target)/\(file)")
    }

    /// Copies the journal as after a crash, except SQLite's log, which is most of the bytes: it is written to the
    /// database.
    private func copyJournal() throws {
        try keep("journal")
        _ = try SQLiteConnection(target + "/journal/journal.sqlite", busyTimeout: .zero).checkpoint(.truncate)
    }

    private func removeExtraFiles() {
        for name in ["journal.sqlite-wal", "journal.sqlite-shm", "lock"] {
            try? FileManager.default.removeItem(atPath: "\(target)/journal/\(name)")
        }
    }
}
