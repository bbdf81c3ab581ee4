import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct `statecast-keys` {
    @Test func `statecast-keys makes keys and shows the public one`() async throws {
        let folder = try Folder()
        let path = "\(folder.path)/node.key"
        let made = try await Tool.keys.run(["generate", path])
        #expect(made.exitCode == 0, "\(made.errors)")
        let key = try #require(made.output.first)
        #expect(key.utf8.count == 40 && made.output.count == 1)
        #expect(try await Tool.keys.run(["show", path]).output == [key])
        let fingerprint = try await Tool.keys.run(["fingerprint", path])
        #expect(fingerprint.output.first?.utf8.count == 39)
        #expect(try await Tool.keys.run(["fingerprint", key]).output == fingerprint.output)
    }

    @Test func `statecast-keys overwrites no file, and reads none that others can read`() async throws {
        let folder = try Folder()
        let path = "\(folder.path)/node.key"
        try Data("text".utf8).write(to: URL(filePath: path))
        let made = try await Tool.keys.run(["generate", path])
        #expect(made.exitCode == 1 && made.errors.contains("keys are never overwritten"), "\(made.errors)")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let shown = try await Tool.keys.run(["show", path])
        #expect(shown.exitCode == 64 && shown.errors.contains("chmod 600"), "\(shown.errors)")
    }
}
