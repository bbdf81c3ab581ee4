import Statecast
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

/// Primaries of different builds, one after another on one journal.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A journal of another build` {
    /// Starts a build and lists some items.
    @discardableResult
    private static func run<S: Shop>(
        _ type: S.Type,
        _ journal: any Journal,
        _ evolution: StateEvolution = StateEvolution(),
        listing numbers: ClosedRange<Int>? = nil
    ) async throws -> (state: S, position: Position) {
        let primary = try S.primary(journal, evolution: evolution)
        try await primary.start()
        for number in numbers.map(Array.init) ?? [] {
            try await primary.send(Listed(number: number, title: "\(number)"))
        }
        let position = try #require(await primary.position)
        await primary.stop()
        return (primary.state, position)
    }

    /// The content of a journal, for comparison.
    private static func contents(_ journal: any Journal) throws -> (JournalContents?, [JournalRecord], [SnapshotEntry])
    {
        defer { journal.close() }
        let contents = try journal.open()
        let records = try journal.records(after: JournalSequence(0), maxBytes: .max)
        return (contents, records, try journal.snapshots())
    }

    @Test
    func `A journal of another build is opened with missing fields filled once, in the same history`() async throws {
        let folder = try TemporaryFolder()
        func journal() -> any Journal { SQLiteJournal(at: folder.path + "/journal") }
        let first = try await Self.run(FirstShop.self, journal(), listing: 1...3)
        for epoch in 2...4 {
            let second = try await Self.run(SecondShop.self, journal(), SecondShop.evolution)
            let items = (1...3).map { ($0, SecondShop.Item(title: "\($0)", price: 5)) }
            #expect(second.state == SecondShop(items: Table(uniqueKeysWithValues: items), isOpen: true))
            #expect(second.position.lineage == first.position.lineage)
            #expect(second.position.epoch == Epoch(UInt64(epoch)))
            #expect(second.position.revision == Revision(4))
        }
        #expect(try Self.contents(journal()).1.map(\.to.rawValue) == [1, 2, 3, 4])
    }

    @Test func `A journal continues without a change if its epochs have another number for State`() async throws {
        let journal = MemoryJournal()
        try await Self.run(FirstShop.self, journal, listing: 1...2)
        let last = try #require(try journal.open()?.epochs.last)
        let revision = Revision(2)
        try journal.claim(
            EpochStart(epoch: last.epoch.next, revision: revision, stateVersion: .max, time: last.time)
        )
        journal.close()
        let again = try await Self.run(FirstShop.self, journal)
        #expect(again.state.items.count == 2)
        #expect(again.position.revision == revision)
    }

    @Test
    func `A journal continues without a change if fields have another order and types other names`() async throws {
        let journal = MemoryJournal()
        let second = try await Self.run(SecondShop.self, journal, listing: 1...2)
        let reordered = try await Self.run(ReorderedShop.self, journal, listing: 3...3)
        #expect(reordered.position.revision == Revision(3))
        #expect(reordered.state.items.count == second.state.items.count + 1)
        let again = try await Self.run(SecondShop.self, journal)
        #expect(again.position.revision == Revision(3))
        #expect(again.state.items[3]?.price == 7)
    }

    @Test func `A journal of another build is followed by replicas of both builds`() async throws {
        let journal = MemoryJournal()
        let first = try FirstShop.primary(journal)
        let address = try await first.start()
        let old = try FirstShop.replica(from: address)
        let sender = try ActionSender(store: "shop", from: address.publish, configuration: .quick).started()
        try await old.reached(try await sender.send(Listed(number: 1, title: "Lamp")))
        let before = try #require(old.snapshot)
        await first.stop()

        let configuration = PrimaryConfiguration(publish: address.publish, actions: address.actions)
        let second = try SecondShop.primary(journal, evolution: SecondShop.evolution, configuration)
        try await second.startOnceItsPortsAreFree()
        // The migration itself reaches an older replica as an update.
        let peer = try await RawPeer(address)
        let join = "sc2/shop/join/0123456789abcdef/\(before.position)"
        try await peer.subscribe(join)
        guard case .welcome(let welcome) = try await peer.next(on: join),
            case .update(let update) = try await peer.next(on: join)
        else { throw StatecastError(.closed, "expected a welcome and an update") }
        #expect(welcome.offer == nil)
        #expect([update.from, update.to] == [Revision(1), Revision(2)])
        #expect(try Patch(decoding: update.patch).description == #"{"items":{"1":{"price":[5]}},"isOpen":[true]}"#)

        let new = try SecondShop.replica(from: address)
        let receipt = try await sender.sendKnown(Listed(number: 2, title: "Chair"))
        #expect(receipt.revision == Revision(3))
        try await old.reached(receipt)
        try await new.reached(receipt)
        #expect(old.snapshot?.state.items == [1: .init(title: "Lamp"), 2: .init(title: "Chair")])
        #expect(new.snapshot?.state.items == [1: .init(title: "Lamp", price: 5), 2: .init(title: "Chair", price: 100)])
        #expect(old.snapshot?.position.lineage == before.position.lineage)
        await sender.close()
        await second.stop()
    }

    @Test
    func `A journal of another build runs each migration once, in order, even if it changes nothing`() async throws {
        let journal = MemoryJournal()
        try await Self.run(FirstShop.self, journal)
        let empty = try await Self.run(ThirdShop.self, journal, ThirdShop.evolution, listing: 7...7)
        #expect(empty.state.title == "Corner shop")
        // Items listed since have prices in cents already.
        #expect(try await Self.run(ThirdShop.self, journal, ThirdShop.evolution).state == empty.state)

        let other = MemoryJournal()
        try await Self.run(SecondShop.self, other, listing: 1...1)
        for _ in 1...3 {
            let third = try await Self.run(ThirdShop.self, other, ThirdShop.evolution)
            #expect(third.state.items[1]?.price == 10_000)
            #expect(third.position.revision == Revision(2))
        }
    }

    @Test func `A journal of another build runs a new migration even if the fields are the same`() async throws {
        let journal = MemoryJournal()
        try await Self.run(SecondShop.self, journal, listing: 1...1)
        let evolution = StateEvolution(migrations: [{ $0["items"]?.changeEach { $0["price"] = 1 } }])
        let changed = try await Self.run(SecondShop.self, journal, evolution, listing: 2...2)
        #expect(changed.state.items.values.map(\.price) == [1, 100])
        #expect(try await Self.run(SecondShop.self, journal, evolution).state == changed.state)
    }

    // MARK: Refused

    /// Checks that a build refuses the journal and leaves it unchanged.
    private static func refuse<S: Shop>(
        _ type: S.Type,
        _ journal: any Journal,
        _ evolution: StateEvolution = StateEvolution(),
        saying words: String...
    ) async throws {
        let before = try contents(journal)
        let primary = try S.primary(journal, evolution: evolution)
        let error = await #expect(throws: StatecastError.self) { try await primary.start() }
        #expect(error?.code == .journal)
        #expect((error?.cause as? JournalFailure)?.code == .misfit)
        for words in words + ["The journal stays as it is"] {
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
        let isUnchanged = try contents(journal) == before
        #expect(isUnchanged)
    }

    private static func journal(of kind: RestartKind, in folder: TemporaryFolder) -> any Journal {
        kind == .memory ? MemoryJournal() : SQLiteJournal(at: folder.path + "/journal")
    }

    enum RestartKind: CaseIterable, Sendable { case memory, file }

    @Test(arguments: RestartKind.allCases)
    func `A journal that lacks a field is refused by its name, and opened once the field has a value`(kind: RestartKind)
        async throws
    {
        let folder = try TemporaryFolder()
        let journal = Self.journal(of: kind, in: folder)
        try await Self.run(FirstShop.self, journal, listing: 1...1)
        try await Self.refuse(
            SecondShop.self,
            journal,
            saying: #"items.1: missing the key "price""#,
            "a row of the type"
        )
        try await Self.run(FirstShop.self, journal, listing: 2...2)
        #expect(try await Self.run(SecondShop.self, journal, SecondShop.evolution).state.items.count == 2)
    }

    @Test func `A journal of another build is refused by an older build that would lose a field`() async throws {
        let journal = MemoryJournal()
        try await Self.run(FirstShop.self, journal, listing: 1...1)
        try await Self.run(SecondShop.self, journal, SecondShop.evolution)
        try await Self.refuse(
            FirstShop.self,
            journal,
            saying: #"items.1: no type knows the key "price""#,
            "would be lost"
        )
        let remover: StateEvolution.Migration = { shop in
            shop["isOpen"] = nil
            shop["items"]?.changeEach { $0["price"] = nil }
        }
        let first = try await Self.run(FirstShop.self, journal, StateEvolution(migrations: [remover]))
        #expect(first.state == FirstShop(items: [1: .init(title: "1")]))
    }

    @Test func `A journal of another build is refused by a build with fewer migrations`() async throws {
        let journal = MemoryJournal()
        try await Self.run(ThirdShop.self, journal, ThirdShop.evolution, listing: 1...1)
        try await Self.refuse(ThirdShop.self, journal, saying: "through 2 migrations, and this build knows 0")
    }

    @Test func `A journal of another build is refused if a migration fails`() async throws {
        let journal = MemoryJournal()
        try await Self.run(SecondShop.self, journal, listing: 1...1)
        let failing: StateEvolution.Migration = { _ in throw CodingFailure(.malformed, "not today") }
        try await Self.refuse(
            SecondShop.self,
            journal,
            StateEvolution(migrations: [{ _ in }, failing]),
            saying: "migration 2 of 2",
            "not today"
        )
    }

    @Test func `A journal of another build is refused by a build that cannot encode it`() async throws {
        let journal = MemoryJournal()
        try await Self.run(SecondShop.self, journal, listing: 1...1)
        try await Self.refuse(SecretiveShop.self, journal, saying: "cannot be encoded as a state of this build")
    }

    // MARK: Crashes

    @Test func `A journal is opened by either build after a crash between the claim and the migration`() async throws {
        for isOld in [true, false] {
            let journal = MemoryJournal()
            try await Self.run(SecondShop.self, journal, listing: 1...1)
            let faulty = FaultyJournal(journal)
            faulty.fail(FaultyJournal.broken)
            let crashed = try ThirdShop.primary(faulty, evolution: ThirdShop.evolution)
            await #expect(throws: StatecastError.self) { try await crashed.start() }
            #expect(try Self.contents(journal).0?.epochs.count == 2)
            if isOld {
                #expect(try await Self.run(SecondShop.self, journal).state.items[1]?.price == 100)
            }
            #expect(try await Self.run(ThirdShop.self, journal, ThirdShop.evolution).state.items[1]?.price == 10_000)
        }
    }

    @Test
    func `A journal of another build has run its migrations even if it has no snapshot of the result`() async throws {
        let journal = MemoryJournal()
        try await Self.run(SecondShop.self, journal, listing: 1...1)
        for _ in 1...2 {
            let third = try await Self.run(
                ThirdShop.self,
                FaultyJournal(journal, takesSnapshots: false),
                ThirdShop.evolution
            )
            #expect(third.state.items[1]?.price == 10_000)
            #expect(third.position.revision == Revision(2))
        }

        // The migration had nothing to change.
        let empty = MemoryJournal()
        let doubling = StateEvolution(migrations: [
            { shop in shop["items"]?.changeEach { $0["price"] = $0["price"]?.intValue.map { Value($0 * 2) } } }
        ])
        try await Self.run(SecondShop.self, empty)
        for revision in [1, 2] as [UInt64] {
            let number = Int(revision)
            let second = try await Self.run(
                SecondShop.self,
                FaultyJournal(empty, takesSnapshots: false),
                doubling,
                listing: number...number
            )
            #expect(second.state.items.values.map(\.price) == Array(repeating: 100, count: number))
            #expect(second.position.revision == Revision(revision))
        }
    }

    @Test
    func `A journal of another build stores a snapshot of the converted state, for a fast next start`() async throws {
        let journal = MemoryJournal()
        try await Self.run(FirstShop.self, journal, listing: 1...3)
        try await Self.run(SecondShop.self, journal, SecondShop.evolution)
        #expect(try Self.contents(journal).2.map(\.revision.rawValue) == [0, 4])
        try await Self.run(SecondShop.self, journal, SecondShop.evolution)
        #expect(try Self.contents(journal).2.map(\.revision.rawValue) == [0, 4])
    }

    @Test
    func `A journal of another build is followed even if the converted fields do not fit into a frame`() async throws {
        let journal = MemoryJournal()
        let first = try FirstShop.primary(journal)
        let address = try await first.start()
        for number in 1...200 { first.dispatch(Listed(number: number, title: "\(number)")) }
        try await first.send(Listed(number: 1, title: "Lamp"))
        let old = try FirstShop.replica(from: address)
        let position = try await old.first { $0.state.items.count == 200 }.position
        await first.stop()
        var configuration = PrimaryConfiguration(publish: address.publish, actions: address.actions)
        configuration.limits.maxFrameBytes = 2000
        let second = try SecondShop.primary(journal, evolution: SecondShop.evolution, configuration)
        try await second.startOnceItsPortsAreFree()
        let peer = try await RawPeer(address)
        let join = "sc2/shop/join/0123456789abcdef/\(position)"
        try await peer.subscribe(join)
        #expect(try await peer.welcome(on: join).offer != nil)
        let new = try SecondShop.replica(from: address)
        let receipt = try await second.send(Listed(number: 1, title: "Chair"))
        try await old.reached(receipt)
        try await new.reached(receipt)
        #expect(old.snapshot?.state.items[1]?.title == "Chair")
        #expect(new.snapshot?.state.items[200]?.price == 5)
        await second.stop()
    }
}
