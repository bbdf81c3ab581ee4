import ArgumentParser
import FleetApp
import Foundation
import Statecast
import StatecastPostgres

/// A node of a fleet in a shared database, whose actions have effects: each writes its epoch, revision and note to a
/// log.
struct EffectNode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "effect-node", shouldDisplay: false)

    @Argument var database: String
    @Argument var leaseSeconds: Int
    @Argument var publish: String
    @Argument var actions: String
    @Argument var crashMarks: String
    @Argument var log: String

    func run() async throws {
        let log = open(self.log, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        guard log >= 0 else { throw ValidationError("cannot open the log") }
        let noted = Reducer<Fleet> { _, action in
            guard let note = action as? NoteAdded else { return .none }
            return .run { send in
                let key = send.idempotencyKey
                let line = "\(key.epoch ?? 0) \(key.revision) \(note.text)\n"
                // One write for a line: it is whole, whenever the process is killed.
                _ = line.withCString { write(log, $0, strlen($0)) }
            }
        }
        await runUntilSignal {
            var configuration = PrimaryConfiguration(publish: publish, actions: actions)
            configuration.leaseTime = .seconds(leaseSeconds)
            let primary = try Primary(
                store: Fleet.storeName,
                state: Fleet(),
                actions: Fleet.actions,
                journal: PostgresDatabase(database).journal(of: Fleet.storeName, crashMarks: crashMarks),
                configuration: configuration,
                reducer: .combine(Fleet.reducer, noted)
            )
            try await primary.run()
        }
    }
}
