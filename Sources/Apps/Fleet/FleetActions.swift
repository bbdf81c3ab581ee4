public import StateCore

/// A machine said how it is. The first sample puts it on the board.
public struct HostSampled: Action, Equatable {
    /// The machine's name.
    public var host: String
    /// What it said.
    public var sample: Sample

    /// `host` said `sample`.
    public init(host: String, sample: Sample) {
        self.host = host
        self.sample = sample
    }

    /// A small machine with a little to do.
    public static let example: Self? = Self(host: "web-1", sample: .example)
}

/// A machine was taken out of service: its samples are ignored until it is restored.
public struct HostRetired: Action, Equatable {
    /// The machine's name.
    public var host: String

    /// `host` was taken out of service.
    public init(host: String) {
        self.host = host
    }

    /// A machine that is on many boards.
    public static let example: Self? = Self(host: "web-1")
}

/// A retired machine was put into service again.
public struct HostRestored: Action, Equatable {
    /// The machine's name.
    public var host: String

    /// `host` was put into service again.
    public init(host: String) {
        self.host = host
    }

    /// A machine that is on many boards.
    public static let example: Self? = Self(host: "web-1")
}

/// Somebody wants everybody at the board to know something.
public struct NoteAdded: Action, Equatable {
    /// The machine it is about; nil or left out for the fleet as a whole.
    public var host: String?
    /// What it says.
    public var text: String

    /// Notes `text`, about `host` or the fleet as a whole.
    public init(host: String? = nil, text: String) {
        self.host = host
        self.text = text
    }

    /// A note about one machine.
    public static let example: Self? = Self(host: "web-1", text: "new disk on Friday")
}
