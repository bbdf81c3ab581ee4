import StatecastCoding
package import StatecastCore

/// A host measured a sample. The first sample adds the host to the fleet.
package struct HostSampled: Action, Equatable {
    package var host: String
    package var sample: Sample

    package init(host: String, sample: Sample) {
        self.host = host
        self.sample = sample
    }

    package static let example: Self? = Self(host: "web-1", sample: .example)
}

/// A host was retired: its samples are ignored until it is restored.
package struct HostRetired: Action, Equatable {
    package var host: String

    package init(host: String) {
        self.host = host
    }

    package static let example: Self? = Self(host: "web-1")
}

/// A retired host was put into service again.
package struct HostRestored: Action, Equatable {
    package var host: String

    package init(host: String) {
        self.host = host
    }

    package static let example: Self? = Self(host: "web-1")
}

/// An operator or a script added a note.
package struct NoteAdded: Action, Equatable {
    /// The host that the note is about; `nil` or absent for the whole fleet.
    package var host: String?
    package var text: String

    package init(host: String? = nil, text: String) {
        self.host = host
        self.text = text
    }

    package static let example: Self? = Self(host: "web-1", text: "new disk on Friday")
}

extension Fleet {
    /// Updates the fleet. No input makes it trap; invalid actions are ignored and counted.
    package static let reducer = Reducer<Fleet>.withContext { fleet, action, context in
        let accepted =
            switch action {
            case let action as HostSampled: fleet.apply(action, at: context.time)
            case let action as HostRetired: fleet.setRetired(true, host: action.host)
            case let action as HostRestored: fleet.setRetired(false, host: action.host)
            case let action as NoteAdded: fleet.apply(action, at: context.time)
            default: true
            }
        if !accepted {
            fleet.totals.ignored += 1
        }
        return .none
    }

    private mutating func apply(_ action: HostSampled, at time: Timestamp) -> Bool {
        let name = Self.hostName(action.host)
        guard !name.isEmpty, action.sample.isPlausible else { return false }
        if let isRetired = hosts[name]?.isRetired {
            guard !isRetired else { return false }
            hosts[name]?.update(with: action.sample, at: time)
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

    private mutating func apply(_ action: NoteAdded, at time: Timestamp) -> Bool {
        let text = printable(action.text, maxBytes: FleetLimits.maxNoteBytes)
        guard !text.isEmpty else { return false }
        let host = action.host.map(Self.hostName).flatMap { $0.isEmpty ? nil : $0 }
        notes.append(Note(time: time, host: host, text: text))
        if notes.count > FleetLimits.maxNotes {
            notes.removeFirst(notes.count - FleetLimits.maxNotes)
        }
        totals.notes += 1
        return true
    }

    private mutating func makeRoomForHost() -> Bool {
        guard hosts.count >= FleetLimits.maxHosts else { return true }
        let retired = hosts.values.filter(\.isRetired)
        // Compares names, too: otherwise the order of iteration would decide between equal times.
        guard let longestGone = retired.min(by: { ($0.lastSeen, $0.name) < ($1.lastSeen, $1.name) }) else {
            return false
        }
        hosts[longestGone.name] = nil
        totals.hosts -= 1
        totals.retired -= 1
        return true
    }

    private static func hostName(_ name: String) -> String {
        printable(name, maxBytes: FleetLimits.maxNameBytes)
    }
}
