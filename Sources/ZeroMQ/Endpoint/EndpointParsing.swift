#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Endpoint {
    /// The longest path of an `ipc` endpoint, in bytes: what the system's `sun_path` holds beside its final 0.
    package static let ipcPathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Reads an endpoint.
    ///
    /// - Throws: `invalidEndpoint`, with what was expected, what came, and an example.
    package init(_ text: String) throws(ZeroMQError) {
        let (scheme, rest) = Self.split(text)
        do throws(Mistake) {
            switch scheme {
            case "tcp": address = try Self.tcp(rest)
            case "ipc": address = try Self.ipc(rest)
            case "inproc": address = try Self.inproc(rest)
            default:
                throw Mistake(
                    expected: "tcp://host:port, ipc://path or inproc://name",
                    got: text,
                    example: "tcp://127.0.0.1:7001"
                )
            }
        } catch {
            throw ZeroMQError(
                .invalidEndpoint,
                """
                \(text.debugDescription) is no endpoint: expected \(error.expected), got \
                \(error.got.debugDescription); an example is \(error.example)
                """
            )
        }
    }

    private struct Mistake: Error {
        let expected: String
        let got: String
        let example: String
    }

    private static func split(_ text: String) -> (scheme: Substring, rest: Substring) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return ("", "") }
        return (text[..<colon], text[colon...].dropFirst(3))
    }

    private static func tcp(_ rest: Substring) throws(Mistake) -> Address {
        let example = "tcp://127.0.0.1:7001"
        guard let colon = rest.lastIndex(of: ":"), !rest.hasSuffix("]") else {
            throw Mistake(expected: "a host, a colon and a port", got: String(rest), example: example)
        }
        let (hostText, portText) = (String(rest[..<colon]), rest[colon...].dropFirst())
        guard let host = Host(hostText) else {
            throw Mistake(
                expected: "a host: a name, an IPv4 address, an IPv6 address in brackets, or *",
                got: hostText,
                example: hostText.contains(":") ? "tcp://[::1]:7001" : example
            )
        }
        guard let port = port(portText) else {
            throw Mistake(expected: "a port from 0 to 65535, or *", got: String(portText), example: example)
        }
        return .tcp(host, port: port)
    }

    private static func port(_ text: Substring) -> UInt16? {
        if text == wildcard { return 0 }
        let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isDecimal ? UInt16(text) : nil
    }

    private static func ipc(_ rest: Substring) throws(Mistake) -> Address {
        let (path, example) = (String(rest), "ipc:///run/statecast/fleet.ipc")
        func mistake(_ expected: String) -> Mistake { Mistake(expected: expected, got: path, example: example) }

        guard !path.isEmpty, !path.utf8.contains(0) else { throw mistake("a path without a 0 byte") }
        guard path.utf8.count <= ipcPathBytesMax else {
            throw mistake("a path of at most \(ipcPathBytesMax) bytes (\(path.utf8.count) are too many)")
        }
        // libzmq takes any path that begins with a star for the wildcard.
        guard path == wildcard || !path.hasPrefix(wildcard) else { throw mistake("a path, or * alone") }
        if path.hasPrefix(abstractMark) {
            #if os(Linux) || os(Android)
                guard path != abstractMark else { throw mistake("a name after the @") }
            #else
                throw mistake("a path (abstract names, @..., exist on Linux only)")
            #endif
        }
        return .ipc(path: path)
    }

    private static func inproc(_ rest: Substring) throws(Mistake) -> Address {
        guard !rest.isEmpty, !rest.utf8.contains(0) else {
            throw Mistake(expected: "a name without a 0 byte", got: String(rest), example: "inproc://fleet")
        }
        return .inproc(name: String(rest))
    }
}
