import CommandLineSupport
import Foundation
import Journal
import SQLiteJournal

/// Where a primary keeps its journal.
enum JournalLocation {
    /// Says that there is none.
    static let memory = "memory"

    /// The journal that the settings ask for; `nil` if there is to be none.
    ///
    /// - Throws: ``CommandFailure`` if nobody says where, and the environment does not tell.
    static func journal(_ settings: Settings, store: String) async throws -> (any Journal)? {
        let durability = try await settings.choice(.durability, default: Durability.full)
        let path = try await settings.text(.journal)
        if path == memory { return nil }
        return SQLiteJournal(at: try path ?? standard(for: store), durability: durability)
    }

    /// A directory for each store: where the service manager says, or else in the user's state directory.
    private static func standard(for store: String) throws -> String {
        guard store != ".", store != ".." else {
            throw CommandFailure.wrongUsage(
                "no directory can be named after the store \"\(store)\": give --journal PATH, or another --store"
            )
        }
        let environment = ProcessInfo.processInfo.environment
        func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        // systemd may give several, with colons between them.
        if let state = folder("STATE_DIRECTORY")?.split(separator: ":").first { return "\(state)/\(store)" }
        if let state = folder("XDG_STATE_HOME") { return "\(state)/statecast/\(store)" }
        if let home = folder("HOME") { return "\(home)/.local/state/statecast/\(store)" }
        throw CommandFailure.wrongUsage(
            "no HOME to keep the journal in: give --journal PATH, or --journal \(memory) to keep none"
        )
    }
}
