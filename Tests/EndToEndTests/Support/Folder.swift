import Foundation

/// A free port on this machine.
let anyPort = "tcp://127.0.0.1:*"

/// A folder of its own for one test, gone with the object.
final class Folder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "statecast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
