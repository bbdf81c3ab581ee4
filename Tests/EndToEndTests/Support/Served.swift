import Foundation
import Testing

/// A running primary, as its ready line describes it.
struct Served: Sendable {
    let tool: RunningTool
    let store: String
    let publish: String
    let actions: String
    /// Of a primary with keys.
    let receipts: String?
    let epoch: String
    let revision: String

    init(_ tool: RunningTool) async throws {
        self.tool = tool
        let line = try await tool.line { $0.hasPrefix("ready ") }
        let fields = Dictionary(
            line.split(separator: " ").dropFirst().map { field in
                let parts = field.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts[1]))
            },
            uniquingKeysWith: { $1 }
        )
        store = try #require(fields["store"])
        publish = try #require(fields["publish"])
        actions = try #require(fields["actions"])
        receipts = fields["receipts"]
        epoch = try #require(fields["epoch"])
        revision = try #require(fields["revision"])
    }

    /// The options of tools that connect to it.
    var upstream: [String] { ["--from", publish, "--store", store] }
}

/// The endpoints of a primary that does not run. No ports, which another test's primary may get.
struct AbsentPrimary: Sendable {
    private let folder: Folder
    let publish: String
    let actions: String

    init() throws {
        folder = try Folder()
        publish = "ipc://\(folder.path)/publish"
        actions = "ipc://\(folder.path)/actions"
    }

    /// The options of tools that connect to it.
    var upstream: [String] { ["--from", publish, "--store", "counter"] }
}

/// Runs the body beside a primary, by default on free ports.
///
/// - Parameter isNew: whether it begins a history.
func withServed<T: Sendable>(
    _ more: [String] = [],
    app: String = "counter",
    publish: String = "tcp://127.0.0.1:*",
    actions: String = "tcp://127.0.0.1:*",
    isNew: Bool = true,
    _ body: @Sendable (Served) async throws -> T
) async throws -> T {
    let arguments = ["--app", app, "--publish", publish, "--actions", actions] + more
    let (value, ending) = try await Tool.primary.running(arguments) { tool in
        let served = try await Served(tool)
        // A waiting sender may change the revision before the line is printed.
        #expect((served.epoch == "1") == isNew)
        return try await body(served)
    }
    #expect(ending.exitCode == 0 || ending.signal == SIGKILL, "\(ending)")
    return value
}

/// A line that a replica prints with --json.
struct ReplicaLine: Decodable, Equatable {
    struct Counter: Decodable, Equatable {
        let counter: Int
        let step: Int
    }

    let lineage: String
    let epoch: UInt64
    let revision: UInt64
    let state: Counter

    init(_ line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}

/// A line that a sender prints with --json.
struct ReceiptLine: Decodable, Equatable {
    let number: UInt64?
    let status: String
    let revision: UInt64?
    let code: String?
    let message: String?
    let line: UInt64?

    init(_ line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}

/// Actions as lines of NDJSON.
func increases(_ count: Int) -> String {
    String(repeating: #"{"action":"CounterIncreaseRequested"}"# + "\n", count: count)
}
