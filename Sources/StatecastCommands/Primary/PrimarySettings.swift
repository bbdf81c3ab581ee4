import Statecast
import StatecastCommandLine
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import StatecastSQLite

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PrimaryConfiguration {
    /// Reads the settings of a node with one store; absent ones keep their defaults.
    init(_ settings: Settings, store: String) async throws {
        self.init()
        publish = try await settings.endpoint(.publish) ?? publish
        actions = try await settings.endpoint(.actions) ?? actions
        advertiseActions = try await settings.endpoint(.advertiseActions)
        publishHighWaterMark = try await settings.count(.highWaterMark, min: 16) ?? publishHighWaterMark
        journal.snapshotBytes = try await settings.bytes(.snapshotBytes, min: 1) ?? journal.snapshotBytes
        journal.snapshotRecords =
            try await settings.count(.snapshotRecords, min: 1, max: 1 << 50) ?? journal.snapshotRecords
        journal.historyBytes = try await settings.bytes(.historyBytes, min: 0) ?? journal.historyBytes
        receipts = try await settings.endpoint(.receipts) ?? receipts
        plaintext = try await settings.isOn(.insecure) ? .trustedNetwork : .thisMachine
        peers = try await settings.text(.peers) != "off"
        if peers, let endpoint = try await settings.endpoint(.peers) {
            storeEndpoints = [store + StoreName.suffixOfPeers: endpoint]
        }
        let keys = try await settings.nodeKeys()
        let accessList = try await settings.text(.access, with: keys)
        security = keys.flatMap { keys in accessList.map { PrimarySecurity(keys: keys, accessList: $0) } }
        maxBusyPolling = try await settings.busyPollingMax() ?? maxBusyPolling
        maxMemory = try await settings.maxMemory()
        leaseTime = try await settings.duration(.lease, min: "1s") ?? leaseTime
    }
}

/// The place of a primary's journal: a directory, or a database that several nodes share.
enum JournalLocation {
    /// The setting for a primary without a journal.
    private static let memory = "memory"

    /// The journal in the directory or the database that the settings name; `nil` for a primary without one.
    ///
    /// - Throws: ``CommandFailure`` if neither the settings nor the environment name a directory.
    static func journal(_ settings: Settings, store: String) async throws -> (any Journal)? {
        let durability = try await settings.choice(.durability, default: Durability.full)
        let path = try await settings.text(.journal)
        if path == memory { return nil }
        if let path, PostgresDatabase.isURI(path) {
            // Beside the directory, to which the journal may be moved.
            let marks = URL(filePath: try standard(for: store) + ".crash-marks")
            try FileManager.default.createDirectory(
                at: marks.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            do throws(JournalFailure) {
                return try PostgresDatabase(path).journal(of: store, crashMarks: marks.path)
            } catch {
                throw error.code == .misfit ? CommandFailure.wrongUsage(error.message) : error
            }
        }
        if let path, path.contains(":/") || path.lowercased().hasPrefix("postgresql/") {
            throw CommandFailure.wrongUsage("--journal is a directory or postgresql://HOST/DATABASE, not \(path)")
        }
        return SQLiteJournal(at: try path ?? standard(for: store), durability: durability)
    }

    /// A directory for each store: in the service manager's state directory, or else in the user's.
    private static func standard(for store: String) throws -> String {
        guard store != ".", store != ".." else {
            throw CommandFailure.wrongUsage(
                "no directory can be named after the store \"\(store)\": give --journal PATH, or another --store"
            )
        }
        func folder(_ variable: String) throws -> String? {
            try InvocationText.variable(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        // systemd separates several directories with colons.
        if let state = try folder("STATE_DIRECTORY")?.split(separator: ":").first { return "\(state)/\(store)" }
        if let state = try folder("XDG_STATE_HOME") { return "\(state)/statecast/\(store)" }
        if let home = try folder("HOME") { return "\(home)/.local/state/statecast/\(store)" }
        throw CommandFailure.wrongUsage(
            "no HOME to keep the journal in: give --journal PATH, or --journal \(memory) to keep none"
        )
    }
}
