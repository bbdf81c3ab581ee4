import CStatecastPlatform
import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the gateway is.
struct GatewayReport: Sendable {
    let since = Timestamp.systemClock()
    /// The number of open connections.
    let connections: @Sendable () async -> Int

    func write(to writer: inout JSONWriter) {
        writer.member("version", Release.number)
        writer.member("process", getpid())
        writer.member("memory", statecast_resident_bytes())
        writer.member("since", since.milliseconds)
    }
}

/// Whether everything between the primary and a page is well: checks with a fixed meaning.
struct HealthReport {
    let store: ServedStore
    let streams: StreamTable
    let gateway: GatewayReport
    /// The number of open connections.
    let connections: Int

    private enum Status: String { case ok, warn, bad, unknown }

    /// A higher share of rejections in the last minute is unusual.
    private static let maxRejectedShare = 0.1
    private static let maxNames = 5

    func write(to writer: inout JSONWriter) {
        writer.array("checks") { writer in
            writePrimary(to: &writer)
            writeFollowing(to: &writer)
            writeJournal(to: &writer)
            writePeers("slow", .warn, "more than 500 revisions behind", to: &writer)
            writePeers("stale", .bad, "without a state of this history", to: &writer)
            writeRejections(to: &writer)
        }
        writer.object("series") { store.series.write(to: &$0) }
        writer.object("gateway") { writer in
            gateway.write(to: &writer)
            for (name, used, limit) in [
                ("connections", connections, GatewayLimits.maxConnections),
                ("streams", streams.count, GatewayLimits.maxStreams),
            ] {
                writer.array(name) { writer in
                    writer.integer(used)
                    writer.integer(limit)
                }
            }
        }
    }

    private func check(
        _ id: String,
        _ status: Status,
        _ title: String,
        _ value: String,
        _ note: String,
        to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("status", status.rawValue)
            writer.member("title", title)
            writer.member("value", value)
            writer.member("note", note)
        }
    }

    private func writePrimary(to writer: inout JSONWriter) {
        let present = store.feed.now
        let since = "for \((Timestamp.systemClock().milliseconds - present.since.milliseconds) / 1000) s"
        switch present.status {
        case .live: check("primary", .ok, "The primary answers", "live", since, to: &writer)
        case .stale:
            check("primary", .bad, "The primary is silent", "stale", "no heartbeat \(since)", to: &writer)
        case .joining:
            check("primary", .warn, "The primary has not answered", "joining", since, to: &writer)
        case .refused(let reason), .incompatible(let reason):
            check("primary", .bad, "The primary refuses the gateway", reason.code.rawValue, reason.message, to: &writer)
        }
    }

    private func writeFollowing(to writer: inout JSONWriter) {
        let position = store.feed.now.snapshot?.position
        let lag = store.lag.map { Int($0) }
        let isLive = store.feed.now.status == .live
        check(
            "follows",
            position == nil || !isLive ? .unknown : lag.map { $0 > 500 } ?? false ? .warn : .ok,
            "This gateway follows",
            lag.map { "\($0) behind" } ?? "unknown",
            position.map { "revision \($0.revision), epoch \($0.epoch)" } ?? "no state yet",
            to: &writer
        )
        check(
            "digest",
            isLive ? .ok : .unknown,
            "The digest is equal",
            isLive ? "equal" : "unknown",
            isLive ? "compared with each update and heartbeat" : "compared again when the primary answers",
            to: &writer
        )
    }

    private func writeJournal(to writer: inout JSONWriter) {
        do {
            let history = try store.journal().history
            let note = "read only: \(history.path)" + (history.reader.holder.map { ", open in \($0)" } ?? "")
            check("journal", .ok, "The journal is readable", "readable", note, to: &writer)
        } catch {
            let message = GatewayFailure(error).message
            check("journal", .unknown, "There is no history", "no journal", message, to: &writer)
        }
    }

    private func writePeers(
        _ id: String,
        _ status: Status,
        _ meaning: String,
        to writer: inout JSONWriter
    ) {
        guard let names = store.peers.names(with: id) else {
            let why = store.peers.list.why ?? "there is no list of peers"
            return check(id, .unknown, "Which replicas are \(id) is not known", "unknown", why, to: &writer)
        }
        let shown = names.prefix(Self.maxNames).joined(separator: ", ")
        check(
            id,
            names.isEmpty ? .ok : status,
            names.isEmpty
                ? "No replica is \(id)" : names.count == 1 ? "1 replica is \(id)" : "\(names.count) replicas are \(id)",
            "\(names.count)",
            (names.isEmpty ? id : shown + (names.count > Self.maxNames ? ", …" : "")) + ": " + meaning,
            to: &writer
        )
    }

    private func writeRejections(to writer: inout JSONWriter) {
        guard let (rejected, all) = store.series.lastMinute else {
            return check(
                "rejections",
                .unknown,
                "Rejections are not known",
                "unknown",
                "they are counted with a journal",
                to: &writer
            )
        }
        let share = all > 0 ? Double(rejected) / Double(all) : 0
        let isUsual = share <= Self.maxRejectedShare
        let percent = (share * 1000).rounded() / 10
        check(
            "rejections",
            isUsual ? .ok : .warn,
            isUsual ? "Rejections are usual" : "Many actions are rejected",
            "\(percent) %",
            "\(rejected) of \(all) actions in the last minute",
            to: &writer
        )
    }
}
