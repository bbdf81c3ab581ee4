#if os(Linux)
    import Foundation
    import Testing
    import ZeroMQ

    #if canImport(Glibc)
        import Glibc
    #endif

    @Suite(.timeLimit(.minutes(10))) struct `Requests for connections` {
        /// A listening socket that accepts nothing: the system completes connections to it.
        private final class Listener {
            let descriptor = socket(AF_INET, streamSocket, 0)
            private(set) var address = sockaddr_in()

            init() throws {
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isListening = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                            && getsockname(descriptor, $0, &size) == 0
                    }
                }
                try #require(isListening)
            }

            deinit { close(descriptor) }
        }

        /// A connection that the system establishes in the background.
        private final class Request {
            private let descriptor = socket(AF_INET, streamSocket, 0)

            init(to listener: Listener) throws {
                try #require(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
                withUnsafePointer(to: listener.address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }

            deinit { close(descriptor) }

            /// The number of the connection's state in `tcp_info`.
            private var state: UInt8 {
                var info = tcp_info()
                var size = socklen_t(MemoryLayout<tcp_info>.size)
                getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &size)
                return info.tcpi_state
            }

            /// Whether the request was sent, and has no answer.
            var isUnanswered: Bool { state == 2 }

            /// Waits until the connection is established.
            func isEstablished() -> Bool {
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                return Glibc.poll(&poll, 1, 600_000) == 1 && state == 1
            }
        }

        private let listener: Listener

        init() throws { listener = try Listener() }

        /// Both in one test, which takes the second after which the system repeats a request.
        @Test func `beyond a burst are dropped until the next interval`() throws {
            var limit = RequestLimit(among: OpenConnections(descriptorsMax: .max))
            limit.listens(on: listener.descriptor)
            limit.count(accepted: RequestLimit.burst - 1, ended: 0)
            #expect(!limit.isDropping)
            #expect(try Request(to: listener).isEstablished())
            limit.count(accepted: 1, ended: 0)
            #expect(limit.isDropping)
            let dropped = try Request(to: listener)
            #expect(dropped.isUnanswered)
            #expect(limit.startInterval() && !limit.isDropping)
            #expect(dropped.isEstablished())
            limit.count(accepted: RequestLimit.perInterval - 1, ended: 0)
            #expect(!limit.isDropping)
            limit.count(accepted: 1, ended: 0)
            #expect(limit.isDropping)
        }

        @Test func `beyond the limit count against one interval, and a rest permits a burst again`() throws {
            var limit = RequestLimit(among: OpenConnections(descriptorsMax: .max))
            limit.listens(on: listener.descriptor)
            limit.count(accepted: 2 * RequestLimit.burst, ended: 0)
            #expect(limit.startInterval() && limit.isDropping)
            #expect(try Request(to: listener).isUnanswered)
            #expect(limit.startInterval() && !limit.isDropping)
            var intervals = 1
            while limit.startInterval() { intervals += 1 }
            #expect(intervals == RequestLimit.burst / RequestLimit.perInterval)
            limit.count(accepted: RequestLimit.burst - 1, ended: 0)
            #expect(!limit.isDropping)
        }

        @Test func `are dropped while few descriptors are left`() throws {
            let (one, other) = (try Listener(), try Listener())
            let reserved = OpenConnections.reserved + 2 * OpenConnections.reservedForListener
            let open = OpenConnections(descriptorsMax: reserved + OpenConnections.min + 6)
            var (first, second) = (RequestLimit(among: open), RequestLimit(among: open))
            first.listens(on: one.descriptor)
            second.listens(on: other.descriptor)
            first.count(accepted: OpenConnections.min + 4, ended: 0)
            second.count(accepted: 1, ended: 0)
            #expect(!first.isDropping && !second.isDropping)
            first.count(accepted: 1, ended: 0)
            #expect(first.isDropping)
            #expect(try Request(to: one).isUnanswered)
            #expect(first.startInterval() && first.isDropping)
            // Each learns it when it counts.
            #expect(second.startInterval() && second.isDropping)
            second.count(accepted: 0, ended: 1)
            #expect(!first.startInterval() && !first.isDropping)
            #expect(try Request(to: one).isEstablished())
            // What a closed socket kept is free again.
            second.end()
            first.count(accepted: OpenConnections.reservedForListener, ended: 0)
            #expect(!first.isDropping)
            first.count(accepted: 1, ended: 0)
            #expect(first.isDropping)
        }

        @Test func `are permitted up to a number with any limit of descriptors`() throws {
            var limit = RequestLimit(among: OpenConnections(descriptorsMax: 0))
            limit.listens(on: listener.descriptor)
            limit.count(accepted: OpenConnections.min - 1, ended: 0)
            #expect(!limit.isDropping)
            limit.count(accepted: 1, ended: 0)
            #expect(limit.isDropping)
        }

        /// The descriptor of a closed socket may belong to another listening one.
        @Test func `to another socket with the same descriptor are not dropped`() throws {
            var limit = RequestLimit(among: OpenConnections(descriptorsMax: .max))
            let other = try Listener()
            limit.listens(on: listener.descriptor)
            try #require(dup2(other.descriptor, listener.descriptor) == listener.descriptor)
            limit.count(accepted: RequestLimit.burst, ended: 0)
            #expect(!limit.isDropping)
            #expect(try Request(to: other).isEstablished())
        }

        @Test func `are not limited at a socket file`() throws {
            var limit = RequestLimit(among: OpenConnections(descriptorsMax: .max))
            let file = socket(AF_UNIX, streamSocket, 0)
            defer { close(file) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // With the family alone, the system chooses a name.
            let isListening = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(file, $0, socklen_t(MemoryLayout<sa_family_t>.size)) == 0 && listen(file, 16) == 0
                }
            }
            try #require(isListening)
            limit.listens(on: file)
            limit.count(accepted: RequestLimit.burst, ended: 0)
            #expect(!limit.isDropping)
        }
    }
#endif
