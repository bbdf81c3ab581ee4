import Foundation
package import Logging
import StatecastThreading

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

    /// The last line for a picture, which shows it: on the terminal, the next frame would overwrite log lines.
    static let pictureLine = Locked<String?>(nil)

    /// Whether lines below the level critical are for a picture, while the process is in the foreground.
    private let hasPicture: Bool

    /// Makes this the handler of all loggers. Call it once in a process.
    static func bootstrap(level: Logger.Level, hasPicture: Bool) {
        LoggingSystem.bootstrap { LineLogHandler(label: $0, logLevel: level, hasPicture: hasPicture) }
    }

    init(label: String, logLevel: Logger.Level, hasPicture: Bool = false) {
        self.label = label
        self.logLevel = logLevel
        self.hasPicture = hasPicture
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let line = Date.now.formatted(.iso8601) + " " + line(for: event)
        guard hasPicture, event.level < .critical, !Terminal.isInBackground else { return StandardError.write(line) }
        Self.pictureLine.withLock { $0 = line }
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
