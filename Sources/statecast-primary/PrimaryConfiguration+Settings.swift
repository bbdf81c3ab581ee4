import CommandLineSupport
import Statecast

extension PrimaryConfiguration {
    /// What the settings ask for; the defaults where they say nothing.
    init(_ settings: Settings) async throws {
        self.init()
        publish = try await settings.endpoint(.publish) ?? publish
        actions = try await settings.endpoint(.actions) ?? actions
        advertiseActions = try await settings.endpoint(.advertiseActions)
        publishHighWaterMark = try await settings.count(.highWaterMark, min: 16) ?? publishHighWaterMark
        journal.snapshotBytes = try await settings.bytes(.snapshotBytes, min: 1) ?? journal.snapshotBytes
        journal.snapshotRecords =
            try await settings.count(.snapshotRecords, min: 1, max: 1 << 50) ?? journal.snapshotRecords
        journal.historyBytes = try await settings.bytes(.historyBytes, min: 0) ?? journal.historyBytes
        insecure = try await settings.isOn(.insecure)
    }
}
