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

/// The process of the gateway: its version, memory and connections.
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
    let peers: KnownPeers
    let streams: StreamTable
    let gateway: GatewayReport
    /// The number of open connections.
    let connections: Int

    private struct Check {
        enum Status: String { case ok, warn, bad, unknown }

        let id: String
        let status: Status
        let title: String
        let value: String
        let note: String

        init(_ id: String, _ status: Status, _ title: String, _ value: String, _ note: String) {
            (self.id, self.status, self.title, self.value, self.note) = (id, status, title, value, note)
        }
    }

    /// A higher share of rejections in the last minute is unusual.
    private static let maxRejectedShare = 0.1
    private static let maxNames = 5

    func write(to writer: inout JSONWriter) {
        let checks = [
            primary, following, digest, journal,
            peers("slow", .warn, "a lag of more than \(KnownPeers.slowRevisions) revisions"),
            peers("stale", .bad, "without a state of this history"), rejections,
        ]
        writer.array("checks") { writer in
            for check in checks {
                writer.object { writer in
                    writer.member("id", check.id)
                    writer.member("status", check.status.rawValue)
                    writer.member("title", check.title)
                    writer.member("value", check.value)
                    writer.member("note", check.note)
                }
            }
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

    private var primary: Check {
        let present = store.feed.now
        let since = "for \((Timestamp.systemClock().milliseconds - present.since.milliseconds) / 1000) s"
        return switch present.status {
        case .live: Check("primary", .ok, "The primary answers", "live", since)
        case .stale: Check("primary", .bad, "The primary is silent", "stale", since)
        case .joining: Check("primary", .warn, "The primary has not answered", "joining", since)
        case .refused(let reason), .incompatible(let reason):
            Check("primary", .bad, "The primary refuses the gateway", reason.code.rawValue, reason.message)
        }
    }

    private var isLive: Bool { store.feed.now.status == .live }

    private var following: Check {
        let (position, lag) = (store.position, store.lag.map { UInt64($0) })
        return Check(
            "follows",
            position == nil || !isLive ? .unknown : lag.map { $0 > KnownPeers.slowRevisions } ?? false ? .warn : .ok,
            "This gateway follows",
            lag.map { "lag \($0)" } ?? "unknown",
            position.map { "revision \($0.revision), epoch \($0.epoch)" } ?? "no state yet"
        )
    }

    private var digest: Check {
        isLive
            ? Check("digest", .ok, "The digest is equal", "equal", "compared with each update and heartbeat")
            : Check("digest", .unknown, "The digest is equal", "unknown", "compared again when the primary answers")
    }

    private var journal: Check {
        do {
            let history = try store.journal().history
            let note = "read only: \(history.path)" + (history.reader.holder.map { ", open in \($0)" } ?? "")
            return Check("journal", .ok, "The journal is readable", "readable", note)
        } catch {
            return Check("journal", .unknown, "There is no history", "no journal", GatewayFailure(error).message)
        }
    }

    private func peers(_ id: String, _ status: Check.Status, _ meaning: String) -> Check {
        guard let names = peers.names(with: id) else {
            let why = peers.why ?? "there is no list of peers"
            return Check(id, .unknown, "Which replicas are \(id) is not known", "unknown", why)
        }
        let shown = names.prefix(Self.maxNames).joined(separator: ", ") + (names.count > Self.maxNames ? ", …" : "")
        return switch names.count {
        case 0: Check(id, .ok, "No replica is \(id)", "0", "\(id): \(meaning)")
        case 1: Check(id, status, "1 replica is \(id)", "1", "\(shown): \(meaning)")
        default: Check(id, status, "\(names.count) replicas are \(id)", "\(names.count)", "\(shown): \(meaning)")
        }
    }

    private var rejections: Check {
        guard let (rejected, all) = store.series.lastMinute else {
            let why = "they are counted with a journal"
            return Check("rejections", .unknown, "Rejections are not known", "unknown", why)
        }
        let share = all > 0 ? Double(rejected) / Double(all) : 0
        let isUsual = share <= Self.maxRejectedShare
        return Check(
            "rejections",
            isUsual ? .ok : .warn,
            isUsual ? "Few actions are rejected" : "Many actions are rejected",
            "\((share * 1000).rounded() / 10) %",
            "\(rejected) of \(all) actions in the last minute"
        )
    }
}
