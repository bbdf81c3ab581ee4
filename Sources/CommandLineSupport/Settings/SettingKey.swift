/// Every setting that may also come from the environment or a config file: one vocabulary for all executables, so that
/// they can share a file.
package enum SettingKey: String, CaseIterable, Sendable {
    case app, publish, actions, advertiseActions, highWaterMark
    case journal, durability, snapshotBytes, snapshotRecords, historyBytes
    case from, store, insecure, timeout, interval
    case logLevel

    /// As a flag: `--advertise-actions`.
    var flag: String { "--" + words.joined(separator: "-") }

    /// In the environment: `STATECAST_ADVERTISE_ACTIONS`.
    var variable: String { (["statecast"] + words).map { $0.uppercased() }.joined(separator: "_") }

    /// All the places where it may stand, for messages.
    var places: String { "\(flag), \(variable), or \"\(rawValue)\" in the config file" }

    private var words: [String] {
        var words = [""]
        for character in rawValue {
            if character.isUppercase { words.append("") }
            words[words.count - 1] += character.lowercased()
        }
        return words
    }
}
