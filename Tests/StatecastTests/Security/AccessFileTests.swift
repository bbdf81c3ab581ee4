import Foundation
import Statecast
import Testing

@Suite struct `The file of an access list` {
    private static let key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path + "/access" }

    /// Replaces the file, so that the new one is another file.
    private func write(_ text: String, mode: Int = 0o644) throws {
        try Data((text + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func isOpen(_ file: AccessFile, to store: String) -> Bool { file.list.mayFollow(store, user: "board") }

    private static func word(_ refresh: AccessFile.Refresh) -> String {
        switch refresh {
        case .unchanged: "unchanged"
        case .replaced: "replaced"
        case .failed: "failed"
        }
    }

    @Test func `The file of an access list is read again when it has changed`() throws {
        try write("\(Self.key) board follow=fleet")
        let file = try AccessFile(readingFileAt: path)
        #expect(isOpen(file, to: "fleet"))
        #expect(Self.word(file.refresh()) == "unchanged", "nothing has changed")
        try write("\(Self.key) board follow=counter")
        let refresh = file.refresh()
        guard case .replaced(let list) = refresh else {
            Issue.record("\(refresh)")
            return
        }
        #expect(list == file.list)
        #expect(isOpen(file, to: "counter") && !isOpen(file, to: "fleet"))
        #expect(Self.word(file.refresh()) == "unchanged", "it was read")
    }

    @Test func `The file of an access list keeps the list if the new one cannot be used, and says so once`() throws {
        try write("\(Self.key) board follow=fleet")
        let file = try AccessFile(readingFileAt: path)
        try write("\(Self.key) board follow=fleet\nwrong")
        let refresh = file.refresh()
        guard case .failed(let failure) = refresh else {
            Issue.record("\(refresh)")
            return
        }
        #expect(failure.code == .keys && failure.message.contains("line 2"), "\(failure)")
        #expect(Self.word(file.refresh()) == "unchanged", "it was reported")
        #expect(Self.word(file.refresh(always: true)) == "failed", "it was asked for")
        #expect(isOpen(file, to: "fleet"))
        try FileManager.default.removeItem(atPath: path)
        #expect(Self.word(file.refresh()) == "failed", "it is gone")
        #expect(Self.word(file.refresh()) == "failed", "it may come back")
        #expect(isOpen(file, to: "fleet"))
        try write("\(Self.key) board follow=*")
        #expect(Self.word(file.refresh()) == "replaced", "it is back")
    }

    @Test(arguments: [0o664, 0o646])
    func `The file of an access list is refused if others can write to it`(mode: Int) throws {
        try write("\(Self.key) board", mode: mode)
        let failure = #expect(throws: StatecastError.self) { try AccessFile(readingFileAt: path) }
        #expect(failure?.message.contains("chmod go-w") == true)
    }

    @Test func `The file of an access list is refused if it is no text, or no file`() throws {
        try Data([0xFF, 0xFE]).write(to: URL(filePath: path))
        #expect(throws: StatecastError.self) { try AccessFile(readingFileAt: path) }
        #expect(throws: StatecastError.self) { try AccessFile(readingFileAt: folder.path) }
    }
}
