internal import Configuration

/// A setting as the command line has it; `nil` where it was not given.
package enum SettingFlag: Sendable {
    case text(String?)
    case count(Int?)
    case isOn(Bool?)

    var content: ConfigContent? {
        switch self {
        case .text(let text): text.map(ConfigContent.string)
        case .count(let count): count.map(ConfigContent.int)
        case .isOn(let isOn): isOn.map(ConfigContent.bool)
        }
    }
}
