import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManifestTests {
    @Test(arguments: ["StateCore,Nonsense", "Nonsense"])
    func `STATECAST_TARGETS refuses a target that does not exist`(targets: String) async throws {
        let folder = try Folder()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        // Apart from the folder that the build of these tests may hold locked.
        let options = "--package-path \(root.path) --scratch-path \(folder.path)"
        let ending = try await Tool.shell(
            "STATECAST_TARGETS=\(targets) swift package \(options) dump-package",
            from: anyPort
        )
        #expect(ending.exitCode != 0)
        #expect(ending.errors.contains("STATECAST_TARGETS: there is no target Nonsense"), "\(ending.errors)")
    }
}
