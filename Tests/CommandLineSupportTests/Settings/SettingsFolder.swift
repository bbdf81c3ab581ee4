import Foundation

/// A folder of its own for each test, gone with it.
final class SettingsFolder {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "statecast-settings-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of a file that is not there.
    var missing: String { folder.appending(path: "missing.json").path }

    /// The path of the folder itself.
    var path: String { folder.path }

    /// Writes a config file.
    ///
    /// - Returns: its path.
    func file(_ text: String) throws -> String {
        let url = folder.appending(path: "\(UUID()).json")
        try Data(text.utf8).write(to: url)
        return url.path
    }
}
