/// The names of this machine, in addresses and in the header `Host`.
package enum Loopback {
    /// Whether a host is this machine: `localhost`, `127.0.0.1` or another of that network, `[::1]`.
    package static func contains(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "[::1]"
            || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil && $0.first != "+" })
    }
}
