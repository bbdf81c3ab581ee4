#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The host of a `tcp://` endpoint: a name, an IPv4 or IPv6 address, or `*`.
package struct Host: Hashable, Sendable, CustomStringConvertible {
    private enum Form: Hashable, Sendable {
        case any
        case name(String)
        case ipv4([UInt8])
        case ipv6([UInt8], zone: String?)
    }

    private let form: Form

    /// The text in an endpoint; an IPv6 address has its brackets.
    package let description: String

    /// Parses the host of an endpoint; `nil` if it is malformed.
    ///
    /// Accepts four decimal numbers as IPv4, and not the shorter, octal and hexadecimal forms that resolvers accept,
    /// with which an address can pass for another one.
    package init?(_ text: String) {
        guard let form = Self.form(of: text) else { return nil }
        self.form = form
        description = text
    }

    /// Whether it stands for all interfaces: `*`, `0.0.0.0`, `[::]`. Sockets can bind to such a host, not connect to
    /// it.
    package var isWildcard: Bool {
        switch form {
        case .any: true
        case .name: false
        case .ipv4(let bytes), .ipv6(let bytes, _): bytes.allSatisfy { $0 == 0 }
        }
    }

    /// Whether it reaches this machine only: `localhost`, `127.0.0.0/8`, `[::1]`.
    package var isLoopback: Bool {
        switch form {
        case .any: false
        case .name(let name): name.lowercased() == "localhost"
        case .ipv4(let bytes): bytes[0] == 127
        case .ipv6(let bytes, _): bytes == Self.ipv6Loopback || bytes.starts(with: Self.mappedIPv4 + [127])
        }
    }

    var isIPv6: Bool { if case .ipv6 = form { true } else { false } }

    /// The text for libzmq. For a bind it would not resolve `localhost`; for a connect, with IPv6 enabled, it might
    /// resolve it to `::1`, where no socket is bound. `localhost` therefore means 127.0.0.1 on both sides.
    var wireText: String {
        if case .name = form, isLoopback { "127.0.0.1" } else { description }
    }

    private static let ipv6Loopback = [UInt8](repeating: 0, count: 15) + [1]
    private static let mappedIPv4 = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    private static let maxNameBytes = 253
    private static let maxLabelBytes = 63

    private static func form(of text: String) -> Form? {
        if text == "*" { return .any }
        if text.hasPrefix("[") { return text.hasSuffix("]") ? ipv6(text.dropFirst().dropLast()) : nil }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last else { return nil }
        if last.utf8.allSatisfy(isDigit) { return ipv4(labels) }
        let fits = text.utf8.count <= maxNameBytes && labels.allSatisfy(isLabel)
        return fits ? .name(text) : nil
    }

    private static func ipv4(_ parts: [Substring]) -> Form? {
        let bytes = parts.compactMap { part -> UInt8? in
            let isCanonical = part.utf8.allSatisfy(isDigit) && (part.utf8.count == 1 || part.first != "0")
            return isCanonical ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? .ipv4(bytes) : nil
    }

    private static func ipv6(_ text: Substring) -> Form? {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let zone = parts.count == 2 ? String(parts[1]) : nil
        if let zone, !isLabel(Substring(zone)) { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard let address = parts.first, !address.utf8.contains(0), inet_pton(AF_INET6, String(address), &bytes) == 1
        else { return nil }
        return .ipv6(bytes, zone: zone)
    }

    /// Allows underscores, which host names officially must not contain, because container networks assign them.
    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty && label.utf8.count <= maxLabelBytes
            && label.utf8.allSatisfy { byte in
                isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
