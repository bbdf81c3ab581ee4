import Statecast
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

/// A primary that is ended and started again on the same journal.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A primary with a journal` {
    private static func primary(
        _ journal: any Journal,
        _ configuration: PrimaryConfiguration = .anyPorts
    ) throws -> Primary<Diary> {
        var configuration = configuration
        configuration.limits = .quick
        return try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            journal: journal,
            configuration: configuration,
            reducer: Diary.reducer()
        )
    }

    enum Kind: CaseIterable, Sendable { case memory, full, normal }

    /// Opens the same journal at each call.
    private static func journals(_ kind: Kind, in folder: TemporaryFolder) -> () -> any Journal {
        let memory = MemoryJournal()
        return {
            switch kind {
            case .memory: memory
            case .full: SQLiteJournal(at: folder.path + "/journal", durability: .full)
            case .normal: SQLiteJournal(at: folder.path + "/journal", durability: .normal)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `A primary with a journal continues where it ended, in the same history`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let journal = Self.journals(kind, in: folder)
        var lines: [String] = []
        var lineage: Lineage?
        for epoch in 1...4 {
            let primary = try Self.primary(journal())
            try await primary.start()
            #expect(primary.state.lines == lines)
            let position = try #require(await primary.position)
            #expect(position.epoch == Epoch(UInt64(epoch)))
            #expect(position.revision == Revision(UInt64(lines.count)))
            #expect(lineage == nil || lineage == position.lineage)
            lineage = position.lineage
            for number in 1...50 {
                lines.append("\(epoch).\(number)")
                primary.dispatch(Written(line: lines[lines.count - 1]))
            }
            await primary.stop()
            #expect(primary.state.lines == lines)
        }
    }

    @Test(arguments: [Kind.memory, .full])
    func `A primary with a journal remembers its senders, and applies no action twice`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let journal = Self.journals(kind, in: folder)
        let first = try Self.primary(journal())
        let address = try await first.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        for number in 1...20 { _ = try await sender.send(Written(line: "\(number)")) }
        await first.stop()
        let configuration = PrimaryConfiguration(publish: address.publish, actions: address.actions)
        let second = try Self.primary(journal(), configuration)
        async let late = sender.send(Written(line: "21"))
        try await second.startOnceItsPortsAreFree()
        #expect(try await late.position.epoch > Epoch(1))
        try await second.send(Written(line: "22"))
        #expect(second.state.lines == (1...22).map { "\($0)" })
        await sender.close()
        await second.stop()
    }

    @Test func `A primary with a journal sends a replica missed updates that it replayed at its start`() async throws {
        // A stop with a snapshot would leave nothing to replay.
        let journal = FaultyJournal(takesSnapshots: false)
        let first = try Self.primary(journal)
        try await first.start()
        for number in 1...10 { try await first.send(Written(line: "\(number)")) }
        let lineage = try #require(await first.position).lineage
        await first.stop()
        let second = try Self.primary(journal)
        let peer = try await RawPeer(second.start())
        for number in 11...20 { try await second.send(Written(line: "\(number)")) }
        let topic = "sc2/diary/join/00000000000000a1/\(lineage).1.5"
        try await peer.subscribe(topic)
        guard case .welcome(let welcome) = try await peer.next(on: topic) else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.offer == nil)
        #expect(welcome.head == Revision(20))
        for revision: UInt64 in 6...20 {
            guard case .update(let update) = try await peer.next(on: topic) else { continue }
            #expect(update.to == Revision(revision))
            #expect(update.epoch == Epoch(2))
        }
        await second.stop()
    }

    @Test func `A primary with a journal refuses a second primary, and names the holder`() async throws {
        let folder = try TemporaryFolder()
        let journal = Self.journals(.full, in: folder)
        let first = try Self.primary(journal())
        try await first.start()
        let second = try Self.primary(journal())
        let error = await #expect(throws: StatecastError.self) { try await second.start() }
        #expect(error?.code == .journal)
        #expect(error?.message.contains("is in use by process") == true)
        await first.stop()
        try await second.start()
        await second.stop()
    }

    @Test func `A primary with unreadable records does not start, and does not read them in another way`()
        async throws
    {
        // A stop with a snapshot would leave nothing to replay.
        let journal = FaultyJournal(takesSnapshots: false)
        let primary = try Self.primary(journal)
        try await primary.start()
        for line in ["a", "b"] { try await primary.send(Written(line: line)) }
        await primary.stop()
        journal.failReplay(FaultyJournal.broken)
        let failure = await #expect(throws: StatecastError.self) { try await Self.primary(journal).start() }
        #expect(failure?.code == .journal)
        #expect((failure?.cause as? JournalFailure)?.code == .inputOutput)
        let again = try Self.primary(journal)
        try await again.start()
        #expect(again.state.lines == ["a", "b"])
        await again.stop()
    }

    @Test func `A primary stores snapshots, prunes the history before them, and recovers from them`() async throws {
        let folder = try TemporaryFolder()
        let journal = Self.journals(.full, in: folder)
        var configuration = PrimaryConfiguration.anyPorts
        configuration.journal.snapshotRecords = 10
        configuration.journal.historyBytes = 0
        let first = try Self.primary(journal(), configuration)
        try await first.start()
        for number in 1...100 { try await first.send(Written(line: "\(number)")) }
        await first.stop()
        let check = SQLiteJournal(at: folder.path + "/journal")
        #expect(try check.open()?.last == JournalSequence(100))
        let snapshots = try check.snapshots()
        // Two, and that of the stop.
        #expect((2...3).contains(snapshots.count))
        #expect(try #require(snapshots.last).sequence > JournalSequence(50))
        #expect(throws: JournalFailure.self) { try check.records(after: JournalSequence(0), maxBytes: 1) }
        check.close()
        let second = try Self.primary(journal(), configuration)
        try await second.start()
        #expect(second.state.lines == (1...100).map { "\($0)" })
        await second.stop()
    }

    @Test func `A primary with a journal stores a snapshot in time, however often it restarts`() async throws {
        let journal = MemoryJournal()
        var configuration = PrimaryConfiguration.anyPorts
        configuration.journal.snapshotRecords = 10
        for start in 1...4 {
            let primary = try Self.primary(journal, configuration)
            try await primary.start()
            for number in 1...4 { try await primary.send(Written(line: "\(start).\(number)")) }
            await primary.stop()
        }
        #expect(try journal.snapshots().count == 2)
    }

    @Test func `A primary with a journal continues without records that a crash lost below full durability`()
        async throws
    {
        let journal = MemoryJournal(durability: .normal)
        let faulty = FaultyJournal(journal)
        let first = try Self.primary(faulty)
        let address = try await first.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        let replica = try Replica<Diary>(store: "diary", from: address.publish, configuration: .quick).started()
        for number in 1...5 { try await sender.send(Written(line: "\(number)")) }
        faulty.forget()
        var lost: Receipt?
        for number in 6...8 { lost = try await sender.send(Written(line: "lost \(number)")) }
        try await replica.reached(try #require(lost))
        #expect(lost?.position.revision == Revision(8))
        await first.stop()

        let second = try Self.primary(
            journal,
            PrimaryConfiguration(publish: address.publish, actions: address.actions)
        )
        try await second.startOnceItsPortsAreFree()
        let receipt = try await sender.sendKnown(Written(line: "next"))
        #expect(receipt.position.revision == Revision(6))
        #expect(receipt.position.epoch > Epoch(1))
        let lines = (1...5).map { "\($0)" } + ["next"]
        #expect(try await replica.first { $0.position == receipt.position }.state.lines == lines)
        await sender.close()
        await second.stop()
        #expect(second.state.lines == lines)
    }

    @Test
    func `A primary with a journal stores snapshots of published states only, however many records one commit stores`()
        async throws
    {
        let folder = try TemporaryFolder()
        let journal = FaultyJournal(SQLiteJournal(at: folder.path + "/journal"))
        let reduced = EventLog()
        var configuration = PrimaryConfiguration.anyPorts
        configuration.journal.snapshotRecords = 2
        let primary = try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            journal: journal,
            configuration: configuration,
            reducer: Diary.reducer { line, _ in
                reduced.add(line)
                return .none
            }
        )
        try await primary.start()
        for round in 1...10 {
            journal.hold(true)
            for number in 1...4 {
                primary.dispatch(Written(line: "\(round).\(number)"))
                // One turn, and so one record, for each.
                try await reduced.waits(for: "\(round).\(number)")
            }
            journal.hold(false)
            try await primary.send(Written(line: "\(round)"))
        }
        await primary.stop()
        let found = try JournalReader(at: folder.path + "/journal").verify()
        #expect(found.to.revision == Revision(50))
        #expect(found.snapshotCount > 2)
    }

    @Test func `A primary with a journal skips a snapshot that differs from its record`() async throws {
        let journal = MemoryJournal()
        let other = MemoryJournal()
        for (journal, text) in [(journal, "mine"), (other, "other")] {
            var configuration = PrimaryConfiguration.anyPorts
            configuration.journal.snapshotRecords = 3
            let primary = try Self.primary(journal, configuration)
            try await primary.start()
            for number in 1...5 { try await primary.send(Written(line: "\(text) \(number)")) }
            await primary.stop()
        }
        let foreign = try #require(try other.snapshots().last)
        try journal.store(try other.snapshot(foreign))
        let second = try Self.primary(journal)
        try await second.start()
        #expect(second.state.lines == (1...5).map { "mine \($0)" })
        await second.stop()
    }

    @Test func `A primary recovers its state with as much stack as its loop has`() async {
        // In a process of its own, which a stack overflow ends.
        await #expect(processExitsWith: .success) {
            let journal = MemoryJournal()
            for start in 1...2 {
                let primary = try Primary(
                    store: "deep",
                    state: Deep(),
                    actions: [Grown.self],
                    journal: journal,
                    configuration: .anyPorts
                ) { state, _ in state.size += 1 }
                try await primary.start()
                try await primary.send(Grown())
                #expect(primary.state.size == start)
                await primary.stop()
            }
        }
    }
}

private struct Grown: Action {}

/// A state that needs two MiB of stack to be decoded.
private struct Deep: Codable, Equatable {
    var size = 0

    init() {}

    init(from decoder: any Decoder) throws {
        size = try decoder.singleValueContainer().decode(Int.self) + Self.used(kibibytes: 2048)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(size)
    }

    @inline(never)
    private static func used(kibibytes: Int) -> Int {
        // At most this much is on the stack.
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory in
            memory[0] = 0
            return kibibytes == 0 ? 0 : used(kibibytes: kibibytes - 1) + Int(memory[0])
        }
    }
}
