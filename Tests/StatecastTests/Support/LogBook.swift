import Logging

/// Writes down what is logged, a line for each event.
struct LogBook: LogHandler {
    let log: EventLog
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    static func logger(_ log: EventLog) -> Logger { Logger(label: "test") { _ in LogBook(log: log) } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        log.add("\(event.level): \(event.message)" + details.joined())
    }
}
