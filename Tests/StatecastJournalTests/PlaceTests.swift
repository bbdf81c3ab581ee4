import Foundation
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

/// Changes to the files of a journal that a primary has open.
@Suite(.timeLimit(.minutes(10))) struct `A journal that is removed or replaced` {
    enum Removal: CaseIterable, Sendable {
        case removed, renamed, replaced, emptied
        case removedDatabase, replacedDatabase, removedLog, replacedLog, removedMarks

        /// - Returns: the new path of the files.
        func apply(at path: String, _ other: String) throws -> String {
            let files = FileManager.default
            let aside = path + ".aside"
            func replace(_ file: String) throws {
                try files.copyItem(atPath: "\(path)/\(file)", toPath: "\(path)/copy")
                try files.removeItem(atPath: "\(path)/\(file)")
                try files.moveItem(atPath: "\(path)/copy", toPath: "\(path)/\(file)")
            }
            switch self {
            case .removed: try files.removeItem(atPath: path)
            case .renamed:
                try files.moveItem(atPath: path, toPath: aside)
                return aside
            case .replaced:
                try files.moveItem(atPath: path, toPath: aside)
                try files.copyItem(atPath: other, toPath: path)
                return aside
            case .emptied:
                try files.removeItem(atPath: path)
                try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .removedDatabase: try files.removeItem(atPath: path + "/journal.sqlite")
            case .replacedDatabase: try replace("journal.sqlite")
            case .removedLog: try files.removeItem(atPath: path + "/journal.sqlite-wal")
            case .replacedLog: try replace("journal.sqlite-wal")
            case .removedMarks: try files.removeItem(atPath: path + "/marks")
            }
            return path
        }
    }

    /// A journal and a second directory, both removed with the object.
    private final class Place {
        let bench: JournalBench

        init(_ kind: JournalKind) throws {
            bench = JournalBench(kind)
            try bench.begin()
            try bench.journal.claim(.sample(1, at: 0))
            try bench.journal.append((1...5).map { .sample($0) })
        }

        deinit {
            bench.journal.close()
            try? FileManager.default.removeItem(atPath: bench.path + ".aside")
        }
    }

    @Test(arguments: JournalKind.disk, Removal.allCases)
    func `A journal that is removed or replaced acknowledges nothing any more`(
        kind: JournalKind,
        removal: Removal
    ) throws {
        let (place, other) = (try Place(kind), try Place(kind))
        let path = place.bench.path
        try place.bench.journal.checkPlace()
        let left = try removal.apply(at: path, other.bench.path)
        for attempt in [
            { try place.bench.journal.append([.sample(6)]) }, { try place.bench.journal.checkPlace() },
            { try place.bench.journal.store(.sample(5)) },
        ] {
            let failure = #expect(throws: JournalFailure.self) { try attempt() }
            #expect(failure?.code == .removed)
            let message = failure?.message ?? ""
            #expect(
                message.hasPrefix("the journal \(path) was removed or replaced while it was in use: "),
                "\(message)"
            )
        }
        if let marks = try? CommitMarkFile(reading: JournalDirectory(path: left)) {
            #expect(marks.acknowledged?.sequence == JournalSequence(5))
        }
    }

    @Test func `A journal that is removed or replaced does not change the journal that replaced it`() throws {
        let (place, other) = (try Place(.full), try Place(.full))
        let path = place.bench.path
        try other.bench.journal.store(.sample(3))
        _ = try Removal.replaced.apply(at: path, other.bench.path)
        let second = JournalBench(.full, at: path)
        #expect(try second.journal.open()?.last == JournalSequence(5))
        try second.journal.append([.sample(6, bytes: 33)])
        let before = try files(of: path)
        for attempt in [
            { try place.bench.journal.append([.sample(6)]) }, { try place.bench.journal.store(.sample(4)) },
            { try place.bench.journal.prune(keeping: 0) },
            { _ = try place.bench.journal.records(after: JournalSequence(0), maxBytes: 1) },
        ] { #expect(throws: JournalFailure.self) { try attempt() } }
        place.bench.journal.close()
        #expect(try files(of: path) == before)
        try second.journal.append([.sample(7)])
        #expect(try second.reopened()?.last == JournalSequence(7))
        second.journal.close()
    }

    @Test func `A journal that is removed or replaced has one primary also if the file "lock" is removed`() throws {
        let place = try Place(.full)
        try FileManager.default.removeItem(atPath: place.bench.path + "/lock")
        let second = place.bench.another()
        let failure = #expect(throws: JournalFailure.self) { try second.open() }
        #expect(failure?.code == .inUse)
        try place.bench.journal.append([.sample(6)])
        place.bench.journal.close()
        #expect(try second.open()?.last == JournalSequence(6))
        second.close()
    }

    @Test
    func `A journal whose lock is removed is in use, not damaged, if its primary appends during the check`() throws {
        let place = try Place(.full)
        try FileManager.default.removeItem(atPath: place.bench.path + "/lock")
        // Its primary appends while the journal is read.
        try place.bench.sql("DELETE FROM record WHERE sequence = 5")
        let failure = #expect(throws: JournalFailure.self) { try place.bench.another().open() }
        #expect(failure?.code == .inUse)
    }

    @Test func `A journal that is removed between opening and the first write is refused`() throws {
        let place = try Place(.full)
        _ = try place.bench.reopened()
        try FileManager.default.removeItem(atPath: place.bench.path + "/journal.sqlite")
        let failure = #expect(throws: JournalFailure.self) { try place.bench.journal.claim(.sample(2, at: 15)) }
        #expect(failure?.code == .removed)
    }
}
