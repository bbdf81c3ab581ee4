internal import StateCoding
public import StateCore

extension Fleet {
    /// Keeps the board. No input can make it trap; what makes no sense is ignored and counted.
    public static let reducer = Reducer<Fleet> { fleet, action, context in
        let accepted =
            switch action {
            case let action as HostSampled: fleet.take(action, at: context.time)
            case let action as HostRetired: fleet.setRetired(true, host: action.host)
            case let action as HostRestored: fleet.setRetired(false, host: action.host)
            case let action as NoteAdded: fleet.take(action, at: context.time)
            default: true
            }
        if !accepted {
            fleet.totals.ignored += 1
        }
    }

    private mutating func take(_ action: HostSampled, at time: Timestamp) -> Bool {
        let name = Self.hostName(action.host)
        guard !name.isEmpty, action.sample.isPlausible else { return false }
        if let isRetired = hosts[name]?.isRetired {
            guard !isRetired else { return false }
            hosts[name]?.take(action.sample, at: time)
        } else {
            guard makeRoomForHost() else { return false }
            hosts[name] = Host(name: name, first: action.sample, at: time)
            totals.hosts += 1
        }
        totals.samples += 1
        return true
    }

    private mutating func setRetired(_ retired: Bool, host: String) -> Bool {
        let name = Self.hostName(host)
        guard let isRetired = hosts[name]?.isRetired, isRetired != retired else { return false }
        hosts[name]?.isRetired = retired
        totals.retired += retired ? 1 : -1
        return true
    }

    private mutating func take(_ action: NoteAdded, at time: Timestamp) -> Bool {
        let text = printable(action.text, bytesMax: FleetLimits.noteBytesMax)
        guard !text.isEmpty else { return false }
        let host = action.host.map(Self.hostName).flatMap { $0.isEmpty ? nil : $0 }
        notes.append(Note(time: time, host: host, text: text))
        if notes.count > FleetLimits.notesMax {
            notes.removeFirst(notes.count - FleetLimits.notesMax)
        }
        totals.notes += 1
        return true
    }

    private mutating func makeRoomForHost() -> Bool {
        guard hosts.count >= FleetLimits.hostsMax else { return true }
        let retired = hosts.values.filter(\.isRetired)
        // By name as well, or the order of a dictionary, which differs from process to process, would decide.
        guard let longestGone = retired.min(by: { ($0.lastSeen, $0.name) < ($1.lastSeen, $1.name) }) else {
            return false
        }
        hosts[longestGone.name] = nil
        totals.hosts -= 1
        totals.retired -= 1
        return true
    }

    private static func hostName(_ name: String) -> String {
        printable(name, bytesMax: FleetLimits.nameBytesMax)
    }
}
