package import Logging
import StatecastCoding
import StatecastThreading

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The form of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}

/// Logs to standard error, one line for each event.
///
/// ```text
/// 2026-02-03T14:03:09Z notice: waiting for a primary at tcp://127.0.0.1:7100 (store=fleet)
/// {"time":"2026-02-03T14:03:09Z","level":"notice","label":"statecast.replica","message":"waiting for ...",
///  "metadata":{"store":"fleet"}}
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
    private let format: LogFormat
    private static let chosenFormat = Locked(LogFormat.text)

    /// Makes this the handler of all loggers. Call it once in a process.
    static func bootstrap(level: Logger.Level, _ format: LogFormat, hasPicture: Bool) {
        chosenFormat.withLock { $0 = format }
        LoggingSystem.bootstrap { LineLogHandler(label: $0, logLevel: level, format, hasPicture: hasPicture) }
    }

    init(label: String, logLevel: Logger.Level, _ format: LogFormat = .text, hasPicture: Bool = false) {
        self.label = label
        self.logLevel = logLevel
        self.format = format
        self.hasPicture = hasPicture
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let time = Date.now.formatted(.iso8601)
        let line = format == .json ? jsonLine(for: event, at: time) : "\(time) \(line(for: event))"
        guard hasPicture, event.level < .critical, !Terminal.isInBackground else { return StandardError.write(line) }
        Self.pictureLine.withLock { $0 = line }
    }

    /// The event without its time.
    func line(for event: LogEvent) -> String {
        let details = details(of: event).map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let origin = logLevel <= .debug ? " \(label)" : ""
        return VisibleText.line(
            "\(event.level)\(origin): \(event.message)" + (details.isEmpty ? "" : " (\(details))")
        )
    }

    func jsonLine(for event: LogEvent, at time: String) -> String {
        Self.jsonLine(event.level, label, "\(event.message)", details(of: event), at: time)
    }

    private static func jsonLine(
        _ level: Logger.Level,
        _ label: String,
        _ message: String,
        _ details: [(key: String, value: String)],
        at time: String
    ) -> String {
        JSONLine([
            "time": .text(time), "level": .text(level.rawValue), "label": .text(label), "message": .text(message),
            "metadata": .map(ValueMap(details.map { (.text($0.key), .text($0.value)) })),
        ]).description
    }

    /// The last line of a command that failed.
    static func line(ofFailure message: String) -> String {
        guard chosenFormat.withLock({ $0 }) == .json else { return "Error: " + VisibleText.line(message) }
        return jsonLine(.critical, "statecast", message, [], at: Date.now.formatted(.iso8601))
    }

    private func details(of event: LogEvent) -> [(key: String, value: String)] {
        var all = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
        all.merge(event.metadata ?? [:]) { _, new in new }
        if let error = event.error { all["error"] = "\(error)" }
        return all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
    }
}
