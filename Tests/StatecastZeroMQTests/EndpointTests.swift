import StatecastZeroMQ
import Testing

@Suite struct `Endpoints` {
    struct Example: Sendable, CustomTestStringConvertible {
        let text: String
        var description: String?
        var isLocal = false
        var isWildcardHost = false
        var isConnectable = true

        var testDescription: String { text }
    }

    @Test(arguments: [
        Example(text: "tcp://127.0.0.1:7001", isLocal: true),
        Example(text: "tcp://127.255.1.2:65535", isLocal: true),
        Example(text: "tcp://localhost:7001", isLocal: true),
        Example(text: "tcp://LocalHost:7001", isLocal: true),
        Example(text: "tcp://[::1]:7001", isLocal: true),
        Example(text: "tcp://[0:0:0:0:0:0:0:1]:7001", isLocal: true),
        Example(text: "tcp://[::ffff:127.0.0.1]:7001", isLocal: true),
        Example(text: "tcp://127.0.0.1:*", isLocal: true, isConnectable: false),
        Example(text: "tcp://127.0.0.1:0", description: "tcp://127.0.0.1:*", isLocal: true, isConnectable: false),
        Example(text: "tcp://*:7001", isWildcardHost: true, isConnectable: false),
        Example(text: "tcp://*:*", isWildcardHost: true, isConnectable: false),
        Example(text: "tcp://0.0.0.0:7001", isWildcardHost: true, isConnectable: false),
        Example(text: "tcp://[::]:7001", isWildcardHost: true, isConnectable: false),
        Example(text: "tcp://10.0.0.7:7001"),
        Example(text: "tcp://128.0.0.1:7001"),
        Example(text: "tcp://[fe80::1%eth0]:7001"),
        Example(text: "tcp://primary.example.org:7001"),
        Example(text: "tcp://localhost.example.org:7001"),
        Example(text: "tcp://fleet_primary:7001"),
        Example(text: "tcp://0x7f000001:7001"),
        Example(text: "ipc:///run/fleet.ipc", isLocal: true),
        Example(text: "ipc://fleet.ipc", isLocal: true),
        Example(text: "ipc://*", isLocal: true, isConnectable: false),
        Example(text: "inproc://fleet", isLocal: true),
    ]) func `Endpoints are parsed, classified and printed`(_ example: Example) throws {
        let endpoint = try Endpoint(example.text)
        #expect(endpoint.description == example.description ?? example.text)
        #expect(endpoint.isLocal == example.isLocal)
        #expect(endpoint.isWildcardHost == example.isWildcardHost)
        #expect(endpoint.isConnectable == example.isConnectable)
        #expect(try Endpoint(endpoint.description) == endpoint)
    }

    @Test func `Endpoints have at most maxBytes bytes`() throws {
        let scheme = "inproc://"
        let longest = scheme + String(repeating: "n", count: Endpoint.maxBytes - scheme.utf8.count)
        #expect(try Endpoint(longest).description == longest)
        let error = #expect(throws: ZeroMQError.self) { try Endpoint(longest + "n") }
        #expect(error?.code == .invalidEndpoint)
        #expect(error?.message.hasPrefix("an endpoint has at most 512 bytes, got a text of 513") == true)
    }

    /// To look for the last colon, the standard library would count all flags before each of them, for hours.
    @Test(.timeLimit(.minutes(10))) func `Endpoints of a peer are not searched if they are longer`() {
        let text = "tcp://" + String(repeating: "\u{1F1E6}", count: 2_000_000)
        #expect(throws: ZeroMQError.self) { try Endpoint(text) }
    }

    @Test(arguments: [
        ("", "tcp://host:port, ipc://path or inproc://name"),
        ("127.0.0.1:7001", "tcp://host:port, ipc://path or inproc://name"),
        ("udp://127.0.0.1:7001", "tcp://host:port, ipc://path or inproc://name"),
        ("tcp:127.0.0.1:7001", "tcp://host:port, ipc://path or inproc://name"),
        ("tcp://", "a host, a colon and a port"),
        ("tcp://localhost", "a host, a colon and a port"),
        ("tcp://[::1]", "a host, a colon and a port"),
        ("tcp://:7001", "a host: a name"),
        ("tcp://::1:7001", "a host: a name"),
        ("tcp://[::1:7001", "a host: a name"),
        ("tcp://[127.0.0.1]:7001", "a host: a name"),
        ("tcp://[fe80::1%]:7001", "a host: a name"),
        ("tcp://127.0.0.256:7001", "a host: a name"),
        ("tcp://127.0.1:7001", "a host: a name"),
        ("tcp://127.0.0.1.1:7001", "a host: a name"),
        ("tcp://010.0.0.1:7001", "a host: a name"),
        ("tcp://2130706433:7001", "a host: a name"),
        ("tcp://a..b:7001", "a host: a name"),
        ("tcp://a b:7001", "a host: a name"),
        ("tcp://eth0;10.0.0.1:7001", "a host: a name"),
        ("tcp://localhost:", "a port from 0 to 65535, or *"),
        ("tcp://localhost:65536", "a port from 0 to 65535, or *"),
        ("tcp://localhost:-1", "a port from 0 to 65535, or *"),
        ("tcp://localhost:+1", "a port from 0 to 65535, or *"),
        ("tcp://localhost:http", "a port from 0 to 65535, or *"),
        ("ipc://", "a path without a 0 byte"),
        ("ipc://a\0b", "a path without a 0 byte"),
        ("ipc://*a", "a path, or * alone"),
        ("inproc://", "a name without a 0 byte"),
    ]) func `Malformed endpoints are refused with the expected form and an example`(text: String, expected: String) {
        let error = #expect(throws: ZeroMQError.self) { try Endpoint(text) }
        #expect(error?.code == .invalidEndpoint)
        #expect(error?.message.contains("\(text.debugDescription) is no endpoint: expected \(expected)") == true)
        #expect(error?.message.contains("an example is ") == true)
    }

    @Test func `Endpoints accept a path of the maximum size, and refuse one that is a byte longer`() throws {
        let path = String(repeating: "é", count: Endpoint.maxIpcPathBytes / 2)
        let longest = "ipc://" + path + String(repeating: "x", count: Endpoint.maxIpcPathBytes % 2)
        #expect(try Endpoint(longest).description == longest)
        #expect(throws: ZeroMQError.self) { try Endpoint(longest + "x") }

        let options = try Socket(.pull)
        #expect(throws: ZeroMQError.self) { try options.bind(Endpoint("ipc:///nowhere/" + path.dropLast(8))) }
    }

    @Test func `Endpoints accept a host name of the maximum size, and refuse one that is a byte longer`() {
        let label = String(repeating: "a", count: 63)
        let name = [label, label, label, String(label.dropLast(2))].joined(separator: ".")
        #expect(Host(name)?.description == name)
        #expect(Host(name + "a") == nil)
        #expect(Host(label + "a") == nil)
    }

    #if os(Linux)
        @Test func `Endpoints may be abstract on Linux`() throws {
            let endpoint = try Endpoint("ipc://@fleet")
            #expect(endpoint.isLocal && endpoint.isConnectable)
            #expect(throws: ZeroMQError.self) { try Endpoint("ipc://@") }
        }
    #endif

    @Test func `Endpoints keep their port with another host`() throws {
        let reached = try #require(try Endpoint("tcp://10.0.0.7:7001").host)
        #expect(try Endpoint("tcp://*:7002").replacingHost(with: reached) == Endpoint("tcp://10.0.0.7:7002"))
        #expect(try Endpoint("ipc://fleet").replacingHost(with: reached) == Endpoint("ipc://fleet"))
        #expect(try Endpoint("ipc://fleet").host == nil)
    }
}
