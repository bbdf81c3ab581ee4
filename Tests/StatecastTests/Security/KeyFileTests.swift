import Foundation
import Statecast
import Testing

@Suite struct `A key file` {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path + "/node.key" }

    private func message(_ path: String, _ credentials: String? = nil) -> String? {
        do {
            _ = try NodeKeys(readingFileAt: path, credentialsDirectory: credentials)
            return nil
        } catch {
            #expect(error.code == .keys)
            return error.message
        }
    }

    private static let pair = """
        public rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7
        secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6

        """

    private func write(_ text: String, mode: Int = 0o600) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test func `A key file is read as it was written`() throws {
        let keys = NodeKeys.generate()
        try keys.write(toNewFileAt: path)
        #expect(try NodeKeys(readingFileAt: path) == keys)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `A key file is never overwritten`() throws {
        let keys = NodeKeys.generate()
        try keys.write(toNewFileAt: path)
        #expect(throws: StatecastError.self) { try NodeKeys.generate().write(toNewFileAt: path) }
        #expect(try NodeKeys(readingFileAt: path) == keys)
    }

    @Test func `A key file may have comments, in any order`() throws {
        let lines = Self.pair.split(separator: "\n")
        let path = try write("# one\r\n\(lines[1])\r\n\n# two\n\(lines[0])")
        #expect(message(path) == nil)
    }

    @Test(arguments: [0o604, 0o602, 0o640, 0o620, 0o660])
    func `A key file is refused if others have access`(mode: Int) throws {
        let path = try write(Self.pair, mode: mode)
        #expect(message(path)?.contains("chmod 600") == true)
    }

    @Test func `A key file may be its group's only as a credential`() throws {
        let path = try write(Self.pair, mode: 0o440)
        #expect(message(path) != nil)
        #expect(message(path, folder.path) == nil)
        #expect(
            message(path, URL(filePath: folder.path).deletingLastPathComponent().path) != nil,
            "the file is in a folder below"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o460], ofItemAtPath: path)
        #expect(message(path, folder.path) != nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        #expect(message(path, folder.path) != nil)
    }

    @Test(
        arguments: [
            "", "public rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\n",
            "secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\n",
            pair + pair, pair + "other\n", pair.replacing("Lh6", with: "Lh"), pair.replacing("yf7", with: "yf8"),
        ]
    )
    func `A key file is refused if it has no pair of keys, without quoting it`(text: String) throws {
        let message = try #require(message(try write(text)))
        #expect(!message.contains("JTKVSB") && message.contains("statecast-keys generate"))
    }

    @Test func `A key file is refused if it is missing or no file`() throws {
        #expect(message(folder.path + "/missing")?.contains("cannot be read") == true)
        path.withCString { #expect(mkfifo($0, 0o600) == 0) }
        #expect(message(path) != nil)
    }
}

@Suite struct `A public key` {
    @Test func `A public key has a fingerprint`() throws {
        let key = try #require(NodePublicKey("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"))
        #expect(key.fingerprint.wholeMatch(of: /([0-9a-f]{4}-){7}[0-9a-f]{4}/) != nil)
        #expect(key.fingerprint != NodeKeys.generate().publicKey.fingerprint)
    }
}
