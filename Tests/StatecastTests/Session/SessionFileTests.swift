import Foundation
import StatecastCore
import Testing

@testable import Statecast
@testable import StatecastProtocol

@Suite struct `A session file` {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/session"
    }

    private func open(store: String = "counter") throws -> SessionFile {
        try SessionFile(at: path, store: store, outcomes: .untilAcknowledged)
    }

    private var bytes: Data {
        get throws { try Data(contentsOf: URL(filePath: path)) }
    }

    private func put(_ bytes: Data) throws { try bytes.write(to: URL(filePath: path)) }

    private static func enqueuing(_ ticket: UInt64, bytes: Int = 10) -> SessionChange {
        var change = SessionChange()
        var chunk = ActionChunk(first: Ticket(rawValue: ticket))
        chunk.append(
            Array(repeating: UInt8(truncatingIfNeeded: ticket), count: bytes),
            mark: InputMark(position: ticket)
        )
        change.enqueue(chunk)
        return change
    }

    private static func rejecting(_ ticket: UInt64) -> SessionChange {
        var change = SessionChange()
        let rejection = Rejection(.tooLarge, "too large")
        change.resolve(ResolvedRun(Ticket(rawValue: ticket), sent: nil, .rejected(rejection)))
        change.acknowledge(upTo: Ticket(rawValue: ticket))
        return change
    }

    /// A file that holds three actions, each in a record of its own.
    private func written() throws -> SavedSession {
        let file = try open()
        var saved = try file.claim(for: try StoreName("counter"))
        for ticket in UInt64(1)...3 {
            try file.save(Self.enqueuing(ticket))
            try saved.apply(Self.enqueuing(ticket))
        }
        file.close()
        return saved
    }

    private func message(store: String = "counter") -> String? {
        do {
            _ = try open(store: store)
            return nil
        } catch { return (error as? StatecastError)?.message }
    }

    @Test func `A session file has the same content when it is opened again`() throws {
        let saved = try written()
        let file = try open()
        #expect(file.position == 3)
        #expect(file.outstandingCount == 3)
        #expect(try file.claim(for: try StoreName("counter")) == saved)
    }

    @Test func `A session file that is truncated anywhere is damaged, and not changed`() throws {
        _ = try written()
        let whole = try bytes
        for count in 1..<whole.count {
            try put(whole.prefix(count))
            #expect(message()?.contains("damaged") ?? false || count < 31, "cut to \(count)")
            #expect(try bytes == whole.prefix(count))
        }
    }

    @Test func `A session file with a flipped bit is refused, and not changed`() throws {
        _ = try written()
        let whole = try bytes
        // The name of the last process that used the file is not checked.
        for offset in whole.indices where !(32..<240).contains(offset) {
            var flipped = whole
            flipped[offset] ^= 1 << (offset % 8)
            try put(flipped)
            #expect(message() != nil, "flipped at \(offset)")
            #expect(try bytes == flipped)
        }
    }

    @Test func `A session file whose actions have wrong numbers is damaged`() throws {
        _ = try written()
        var change = SessionChange()
        let secret = SessionSecret.random()
        let sent = SentAction(session: secret.session, number: ActionNumber(1))
        change.resolve(ResolvedRun(Ticket(rawValue: 2), sent: sent, .unknown(because: "it was lost")))
        change.checkpoint = SessionCheckpoint(fresh: secret)
        let whole = try bytes
        try put(whole + SessionRecords.record(change.encoded, at: whole.count))
        #expect(message()?.contains("damaged") == true)
    }

    @Test func `A session file drops a record that was incomplete when its process ended`() throws {
        let saved = try written()
        let whole = try bytes
        let record = SessionRecords.record(Self.enqueuing(4).encoded, at: whole.count)
        // A crash of the system can lose any part of the write.
        let torn = [
            Data(record.prefix(20)) + Data(count: record.count - 20),
            Data(count: 12) + Data(record.dropFirst(12)), Data(record.dropLast()) + Data(count: 1),
        ]
        for tail in torn + [Data(record.dropLast()), Data(record.prefix(5)), Data(count: 40)] {
            try put(whole + tail)
            let file = try open()
            #expect(try file.claim(for: try StoreName("counter")) == saved)
            try file.save(Self.enqueuing(4))
            file.close()
            #expect(try open().position == 4)
        }
    }

    @Test func `A session file with an intact record after an incomplete one is damaged`() throws {
        _ = try written()
        let whole = try bytes
        var record = SessionRecords.record(Self.enqueuing(4).encoded, at: whole.count)
        let next = SessionRecords.record(Self.enqueuing(5).encoded, at: whole.count + record.count)
        record[record.count - 1] ^= 1
        try put(whole + record + next)
        #expect(message()?.contains("damaged at byte \(whole.count)") == true)
    }

    @Test func `A session file is locked, and names the process that has it`() throws {
        let file = try open()
        #expect(message()?.contains("in use by process \(getpid()) ") == true)
        _ = try file.claim(for: try StoreName("counter"))
        #expect(message()?.contains("in use by process \(getpid()) ") == true)
        file.close()
        #expect(message() == nil)
    }

    @Test func `A session file has one sender`() throws {
        let file = try open()
        _ = try file.claim(for: try StoreName("counter"))
        #expect(throws: StatecastError.self) { try file.claim(for: try StoreName("counter")) }
    }

    @Test func `A session file of a later version, of another store, or another file altogether is refused`() throws {
        _ = try written()
        let whole = try bytes
        #expect(message(store: "fleet")?.contains("belongs to store counter, not fleet") == true)
        var later = whole
        later[try #require(whole.firstIndex(of: UInt8(ascii: "1")))] = UInt8(ascii: "2")
        try put(later)
        #expect(message()?.contains("later version") == true)
        let text = Data("the user's own\n".utf8)
        try put(text)
        #expect(message()?.contains("no session file") == true)
        #expect(try bytes == text)
    }

    @Test func `A session file holds nothing when it is empty`() throws {
        try put(Data())
        let file = try open()
        #expect(!file.isUnfinished)
        _ = try file.claim(for: try StoreName("counter"))
    }

    @Test func `A session file is rewritten when little of it is still needed`() throws {
        let file = try open()
        _ = try file.claim(for: try StoreName("counter"))
        let count = UInt64(3 * SessionFile.minRewriteBytes / (64 << 10))
        for ticket in 1...count {
            try file.save(Self.enqueuing(ticket, bytes: 64 << 10))
            if ticket < count { try file.save(Self.rejecting(ticket)) }
        }
        file.close()
        #expect(try bytes.count <= SessionFile.minRewriteBytes + 100_000)
        let again = try open()
        #expect(again.outstandingCount == 1)
        #expect(again.position == count)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["session"])
    }

    // MARK: Path

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func `A session file is a regular file, and no other file is changed`() throws {
        #expect(mkfifo(path, 0o600) == 0)
        #expect(message()?.contains("\(path) is no session file but a pipe") == true)
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(message()?.contains("Is a directory") == true)
    }

    @Test func `A session file is the same file through a symbolic link`() throws {
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "session")
        let file = try SessionFile(at: link, store: "counter")
        _ = try file.claim(for: try StoreName("counter"))
        #expect(message()?.contains("in use by process \(getpid()) ") == true)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "session")
        try file.save(Self.enqueuing(1))
        file.close()
        #expect(try open().position == 1)
        #expect(try names() == ["link", "session"])
    }

    @Test func `A session file is refused with a second name`() throws {
        _ = try written()
        let whole = try bytes
        try FileManager.default.linkItem(atPath: path, toPath: folder.path + "/other")
        #expect(message()?.contains("has 2 names") == true)
        #expect(try bytes == whole)
    }

    @Test func `A session file is rewritten beside files of any name, and removes its own leftovers`() throws {
        let own = Data("the user's own\n".utf8)
        for name in [
            "session.new", ".session.draft", ".session.0123456789abcdef.draft2", ".other.0123456789abcdef.draft",
        ] {
            try own.write(to: URL(filePath: folder.path + "/" + name))
        }
        let left = try names()
        try own.write(to: URL(filePath: folder.path + "/.session.0123456789abcdef.draft"))
        _ = try written()
        #expect(try names() == (left + ["session"]).sorted())
        for name in left { #expect(try Data(contentsOf: URL(filePath: folder.path + "/" + name)) == own) }
    }
}
