import Foundation

/// A folder of its own for each test, removed with all that is in it.
final class TemporaryFolder: Sendable {
    private let path: String

    init() throws {
        // Short, since the path of a socket has little room.
        path = "/tmp/zmq-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    var contents: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path) }
    }
}
