internal import Statecast
internal import SyncProtocol

/// Which release the executables are of.
package enum Release {
    /// By semantic versioning.
    static let number = "0.1.0"

    /// What `--version` prints.
    package static func line(of executable: String) -> String {
        "\(executable) \(number), protocol version \(Address.version)"
    }
}
