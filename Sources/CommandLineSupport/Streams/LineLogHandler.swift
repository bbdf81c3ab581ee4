internal import Foundation
package import Logging

/// Logs to standard error, one line for each event.
///
/// ```text
/// 2026-02-03T14:03:09Z notice: waiting for a primary at tcp://127.0.0.1:7100 (store=fleet)
/// ```
package struct LineLogHandler: LogHandler {
    /// Printed at the level debug and below.
    private let label: String

    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    /// Makes this the handler of all loggers. Call it once in a process.
    static func bootstrap(level: Logger.Level) {
        LoggingSystem.bootstrap { LineLogHandler(label: $0, logLevel: level) }
    }

    init(label: String, logLevel: Logger.Level) {
        self.label = label
        self.logLevel = logLevel
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        StandardError.write(Date.now.formatted(.iso8601) + " " + line(for: event))
    }

    /// The event without its time.
    func line(for event: LogEvent) -> String {
        var all = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
        all.merge(event.metadata ?? [:]) { _, new in new }
        if let error = event.error { all["error"] = "\(error)" }
        let details = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let origin = logLevel <= .debug ? " \(label)" : ""
        return VisibleText.line(
            "\(event.level)\(origin): \(event.message)" + (details.isEmpty ? "" : " (\(details))")
        )
    }
}
