import Logging
import StatecastThreading

/// Records events in order, from any thread.
final class EventLog: Sendable {
    private let log = Locked<[String]>([])
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func add(_ event: String) {
        log.withLock { $0.append(event) }
        changed.yield()
    }

    var events: [String] { log.withLock { $0 } }

    /// Returns once an event begins like this; ends with the test's time limit. One task at a time may wait.
    func waits(for beginning: String) async throws {
        while !events.contains(where: { $0.hasPrefix(beginning) }) {
            var iterator = changes.makeAsyncIterator()
            await iterator.next()
            try Task.checkCancellation()
        }
    }
}

/// Records log events, one line each.
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

/// The last value that was set, from any thread.
final class Latest<Value: Sendable>: Sendable {
    private let latest = Locked<Value?>(nil)

    func set(_ value: Value) { latest.withLock { $0 = value } }

    var value: Value? { latest.withLock { $0 } }
}

/// An object that reports its release.
final class Held: Sendable {
    private let release: @Sendable () -> Void

    init(onRelease release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }

    /// Makes the caller's closure capture this object.
    func touch() {}
}
