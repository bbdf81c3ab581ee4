import Foundation
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

/// A journal whose only snapshot is the one at which it begins.
@Suite(.timeLimit(.minutes(10))) struct `A young journal` {
    private static let first = "snapshots/0-0.snapshot"
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// The damage of one file.
    private enum Damage: CustomStringConvertible {
        case gone
        case empty
        case cut(Int)
        case flipped(Int)

        var description: String {
            switch self {
            case .gone: "gone"
            case .empty: "empty"
            case .cut(let count): "cut to \(count) bytes"
            case .flipped(let byte): "byte \(byte) flipped"
            }
        }

        func apply(to file: String) throws {
            let url = URL(filePath: file)
            switch self {
            case .gone: try FileManager.default.removeItem(at: url)
            case .empty: try Data().write(to: url)
            case .cut(let count): try Data(contentsOf: url).prefix(count).write(to: url)
            case .flipped(let byte):
                var data = try Data(contentsOf: url)
                data[byte] ^= 1 << UInt8(byte % 8)
                try data.write(to: url)
            }
        }
    }

    /// Recovers as a primary does: from the newest intact snapshot, or from the second copy of the first one.
    private func recovered(_ journal: some JournalReading, through last: JournalSequence) throws -> Value {
        var walk: JournalWalk?
        for entry in try journal.snapshots().reversed() where walk == nil {
            walk = try? JournalWalk(from: journal.snapshot(entry))
        }
        if walk == nil, let origin = try journal.origin() { walk = try JournalWalk(from: origin) }
        var found = try #require(walk, "no snapshot can be read")
        try journal.walkOn(&found, to: Revision(.max))
        #expect(found.place.sequence == last)
        return found.tree
    }

    /// Opens a damaged copy as a primary does, or else salvages it.
    ///
    /// - Returns: the last record; `nil` if the journal is refused.
    @discardableResult
    private func open(_ bench: JournalBench, _ journal: CounterJournal, _ damage: String) throws -> JournalSequence? {
        do throws(JournalFailure) {
            guard let contents = try bench.journal.open() else {
                Issue.record("\(damage): the journal seems to be new")
                return nil
            }
            defer { bench.journal.close() }
            #expect(contents.epochs == [.sample(1, at: 0)], "\(damage)")
            let state = Result { try recovered(bench.journal, through: contents.last) }
            #expect(throws: Never.self, "\(damage)") { try state.get() }
            #expect((try? state.get()) == journal.tree, "\(damage)")
            return contents.last
        } catch {
            #expect(error.code == .damaged, "\(damage): \(error)")
            return nil
        }
    }

    private func salvaged(_ bench: JournalBench) throws -> (saved: JournalSalvage, state: Value) {
        let target = NewPath()
        let saved = try JournalSalvage.salvage(bench.path, to: target.path, store: nil, begun: Self.now)
        #expect(saved.copy.identity.store == JournalIdentity.sample.store)
        return (saved, try JournalReader(at: target.path).walk(to: Revision(.max)).tree)
    }

    @Test func `A young journal continues if its first snapshot's file is damaged or missing`() throws {
        let journal = try CounterJournal.with(batches: 20)
        let bytes = try Data(contentsOf: URL(filePath: "\(journal.path)/\(Self.first)")).count
        let damages = [.gone, .empty, .cut(bytes / 2), .cut(bytes - 1)] + (0..<bytes).map(Damage.flipped)
        for damage in damages {
            let copy = try journal.bench.crashed()
            try damage.apply(to: "\(copy.path)/\(Self.first)")
            #expect(try open(copy, journal, "\(damage)") == JournalSequence(20))
            #expect(try JournalReader(at: copy.path).walk(to: Revision(.max)).tree == journal.tree, "\(damage)")
        }
    }

    @Test func `A young journal without records is read and copied without its first snapshot's file`() throws {
        let journal = try CounterJournal()
        try FileManager.default.removeItem(atPath: "\(journal.path)/\(Self.first)")
        let (reader, target) = (try JournalReader(at: journal.path), NewPath())
        #expect(try reader.info().last.revision == Revision(0))
        #expect(try reader.backup(to: target.path).to.revision == Revision(0))
        #expect(try JournalReader(at: target.path).walk(to: Revision(.max)).tree == journal.tree)
    }

    @Test func `A young journal is salvaged completely without its first snapshot's file`() throws {
        let journal = try CounterJournal.with(batches: 20)
        for folder in [Self.first, "snapshots"] {
            let copy = try journal.bench.crashed()
            try FileManager.default.removeItem(atPath: "\(copy.path)/\(folder)")
            let (saved, state) = try salvaged(copy)
            #expect(state == journal.tree)
            #expect(saved.damage == nil)
            #expect(saved.copy.from.revision == Revision(0))
        }
    }

    @Test func `A young journal is reported if it has its first snapshot only once`() throws {
        let journal = try CounterJournal.with(batches: 3)
        for damage in [Damage.gone, .flipped(50)] {
            let copy = try journal.bench.crashed()
            try damage.apply(to: "\(copy.path)/\(Self.first)")
            let failure = #expect(throws: JournalFailure.self) { try JournalReader(at: copy.path).verify() }
            #expect(failure?.code == .damaged)
            #expect(failure?.message.contains("has its first snapshot only once") == true)
        }
        try journal.bench.sql("UPDATE origin SET state = zeroblob(length(state))")
        let failure = #expect(throws: JournalFailure.self) { try JournalReader(at: journal.path).verify() }
        #expect(failure?.message.contains("in journal.sqlite has a wrong checksum") == true)
    }

    @Test func `A young journal is read with a wrong copy in the database`() throws {
        for change in ["revision = 7", "sequence = 7", "checksum = 0", "state = 'text'", "revision = 'text'"] {
            let journal = try CounterJournal.with(batches: 3)
            journal.bench.journal.close()
            try journal.bench.sql("UPDATE origin SET \(change)")
            #expect(try open(journal.bench, journal, change) == JournalSequence(3))
        }
    }

    @Test func `A young journal keeps its first snapshot in the database no longer than in its file`() throws {
        let journal = try CounterJournal.with(batches: 30, snapshots: [10, 20, 30])
        #expect(try journal.bench.journal.origin()?.entry.sequence == JournalSequence(0))
        try journal.bench.journal.prune(keeping: 0)
        #expect(try journal.bench.journal.origin() == nil)
        #expect(try journal.bench.journal.snapshots().map(\.sequence.rawValue) == [20, 30])
        _ = try JournalReader(at: journal.path).verify()
    }

    @Test func `A young journal whose process ended while it pruned the first records loses nothing`() throws {
        let journal = try CounterJournal.with(batches: 30, snapshots: [10, 20, 30])
        journal.bench.journal.close()
        // Ends pruning before the first records are removed.
        try journal.bench.sql("CREATE TRIGGER kill BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'killed'); END")
        _ = try journal.bench.reopened()
        #expect(throws: JournalFailure.self) { try journal.bench.journal.prune(keeping: 0) }
        journal.bench.journal.close()
        try journal.bench.sql("DROP TRIGGER kill")
        for last in [0, 5, 10] {
            // Records are removed in small transactions.
            try journal.bench.sql("DELETE FROM record WHERE sequence <= \(last)")
            _ = try JournalReader(at: journal.path).verify()
            _ = try journal.bench.reopened()
            try journal.bench.journal.prune(keeping: .max)
            journal.bench.journal.close()
            _ = try JournalReader(at: journal.path).verify()
            #expect(try open(journal.bench, journal, "after record \(last)") == JournalSequence(30))
        }
    }

    @Test(arguments: [(64, true), (65, false)])
    func `A young journal keeps its first snapshot in the database up to a bound`(bytes: Int, isKept: Bool) throws {
        let first = JournalSnapshot.sample(0, bytes: bytes)
        let database = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try JournalSchema.create(database)
        try JournalSchema.insert(origin: first, maxBytes: first.context.count + 64, database)
        #expect(try JournalSchema.originEntry(database) == (isKept ? first.entry : nil))
        #expect(JournalSchema.maxOriginBytes < 1_000_000_000)
    }

    @Test func `A young journal of an unknown version is refused as damaged, and salvaged completely`() throws {
        let journal = try CounterJournal.with(batches: 20)
        journal.bench.journal.close()
        try journal.bench.sql("UPDATE grdb_migrations SET identifier = '3' WHERE identifier = '1'")
        #expect(try open(journal.bench, journal, "unknown version") == nil)
        let (saved, state) = try salvaged(journal.bench)
        #expect(state == journal.tree)
        #expect(saved.damage == nil)
        #expect(saved.copy.from.revision == Revision(0))
    }

    @Test func `A young journal of a later version is refused as such, and not salvaged`() throws {
        let journal = try CounterJournal.with(batches: 3)
        journal.bench.journal.close()
        try journal.bench.sql("INSERT INTO grdb_migrations VALUES ('3')")
        for failure in [
            #expect(throws: JournalFailure.self) { try journal.bench.journal.open() },
            #expect(throws: JournalFailure.self) { try salvaged(journal.bench) },
        ] { #expect(failure?.code == .newerFormat) }
    }

    /// Offsets in a file: all of a small file; a sample of a large one and some of its first bytes.
    private static func samples(_ count: Int) -> [Int] {
        let step = max(1, count / 20) | 1
        let head = stride(from: 0, to: min(count, 128), by: 17)
        return Set(stride(from: 0, to: count, by: step)).union(head).sorted()
    }

    private func forEachDamage(
        of journal: CounterJournal,
        _ body: (JournalBench, _ file: String, _ damage: Damage) throws -> Void
    ) throws {
        for (file, content) in try files(of: journal.path).sorted(by: { $0.key < $1.key }) {
            for damage in [.gone, .empty, .cut(content.count / 2)] + Self.samples(content.count).map(Damage.flipped) {
                let copy = try journal.bench.crashed()
                try damage.apply(to: "\(copy.path)/\(file)")
                try body(copy, file, damage)
            }
        }
    }

    @Test func `A young journal that was stopped loses nothing, whichever file is damaged`() throws {
        let journal = try CounterJournal.with(batches: 20)
        try journal.storeSnapshot(as: .interim)
        journal.bench.journal.close()
        try forEachDamage(of: journal) { copy, file, damage in
            guard try open(copy, journal, "\(file), \(damage)") == nil else { return }
            #expect(try salvaged(copy).state == journal.tree, "\(file), \(damage)")
        }
    }

    @Test func `A stopped journal with any changed byte in its first page is read correctly or refused as damaged`()
        throws
    {
        let journal = try CounterJournal.with(batches: 20)
        try journal.storeSnapshot(as: .interim)
        journal.bench.journal.close()
        let page = try Data(contentsOf: URL(filePath: journal.path + "/journal.sqlite")).prefix(16 << 10)
        var refusedCount = 0
        for (byte, value) in page.enumerated() where value != 0 {
            let copy = try journal.bench.crashed()
            let damage = Damage.flipped(byte)
            try damage.apply(to: "\(copy.path)/journal.sqlite")
            if try open(copy, journal, "\(damage)") == nil { refusedCount += 1 }
        }
        #expect(refusedCount > 0)
    }

    @Test(arguments: [
        ["ALTER TABLE record RENAME TO records"], ["ALTER TABLE identity RENAME COLUMN store TO name"],
        ["ALTER TABLE grdb_migrations RENAME COLUMN identifier TO name"], ["DROP TABLE epoch"],
        [
            "DROP TABLE grdb_migrations", "CREATE TABLE grdb_migrations (identifier)",
            "INSERT INTO grdb_migrations VALUES (NULL)",
        ],
    ])
    func `A young journal that has other tables than were made is refused as damaged`(statements: [String]) throws {
        let journal = try CounterJournal.with(batches: 3)
        journal.bench.journal.close()
        for statement in statements { try journal.bench.sql(statement) }
        #expect(try open(journal.bench, journal, "\(statements)") == nil)
    }

    @Test func `A young journal whose process was killed loses at most the damaged records and later ones`() throws {
        let journal = try CounterJournal.with(batches: 20)
        // Half of the records in the database, half in its log.
        _ = try journal.bench.reopened()
        for _ in 0..<20 { try journal.append() }
        var wholeCount = 0
        try forEachDamage(of: journal) { copy, file, damage in
            guard try open(copy, journal, "\(file), \(damage)") == nil else { return wholeCount += 1 }
            let (saved, state) = try salvaged(copy)
            #expect(state == ["count": Value(saved.copy.to.revision.rawValue)], "\(file), \(damage)")
            guard file.hasPrefix("journal.sqlite") else {
                #expect(state == journal.tree, "\(file), \(damage)")
                return
            }
            // The lost records are named.
            let isNamed = saved.damage != nil || saved.acknowledged == Revision(journal.revision)
            #expect(state == journal.tree || isNamed, "\(file), \(damage)")
        }
        #expect(wholeCount > 0)
    }
}
