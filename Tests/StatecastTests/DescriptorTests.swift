import CounterApp
import Foundation
import Logging
import SQLiteJournal
import Testing
import ZeroMQ

@testable import Statecast

/// libzmq ends a process that has too few file descriptors, unless its socket is refused before.
@Suite(.timeLimit(.minutes(10))) struct `With few file descriptors` {
    @Test(arguments: 8...48)
    func `a node starts, or is refused with the limit and the ways to raise it`(limit: Int) async {
        await #expect(processExitsWith: .success) { [limit] in
            var bounds = rlimit()
            #expect(getrlimit(descriptors, &bounds) == 0)
            bounds.rlim_cur = rlim_t(limit)
            #expect(setrlimit(descriptors, &bounds) == 0)
            func attempt(_ start: () async throws -> Void) async throws {
                do { try await start() } catch let error as StatecastError {
                    #expect(error.code == .resources, "\(error)")
                    let isHelpful = error.message.contains("ulimit -n") && error.message.contains("LimitNOFILE=")
                    #expect(isHelpful && error.message.contains("\(limit)"), "\(error)")
                }
            }
            try await attempt {
                let primary = try await CounterPrimary.start()
                try await attempt {
                    let replica = try Replica<Counter>(store: "counter", from: primary.address.publish)
                    let sender = try ActionSender(store: "counter", from: primary.address.publish)
                    try await withReplica(replica) { replica in
                        try await withSender(sender) { sender in
                            try await replica.reached(sender.send(CounterIncreaseRequested()))
                        }
                    }
                }
            }
        }
    }

    /// libzmq accepts all connections, and tries without a pause to accept one more.
    @Test func `that idle peers have used up, a primary serves its connected peers, and names the cause`() async {
        await #expect(processExitsWith: .success) {
            let (folder, keys) = (try TemporaryFolder(), NodeKeys.generate())
            let cluster = try SecuredCounter(
                ["\(keys.publicKey) member follow=* send=*/*"],
                journal: SQLiteJournal(at: folder.path + "/journal")
            )
            let log = cluster.log
            try await cluster.node.start()
            let sender = try await cluster.sender(cluster.security(keys))
            let replica = try await cluster.replica(cluster.security(keys))
            var last = try await sender.send(CounterIncreaseRequested())
            var bounds = rlimit()
            #expect(getrlimit(descriptors, &bounds) == 0)
            bounds.rlim_cur = 200
            #expect(setrlimit(descriptors, &bounds) == 0)
            let endpoint = try await Endpoint(cluster.node.address.publish)
            var idle: [Int32] = []
            func isReported() -> Bool {
                log.events.contains { $0.hasPrefix("error: no file descriptor is free") && $0.contains("member 3") }
            }
            while !isReported() {
                // They end when their handshake has timed out.
                if let next = try? RawConnection.open(to: endpoint) { idle.append(next) }
                last = try await sender.send(CounterIncreaseRequested())
            }
            #expect(last.number.rawValue == last.revision.rawValue)
            try await replica.reached(last)
            for descriptor in idle { close(descriptor) }
            try await log.waits(for: "notice: file descriptors are free again")
            await cluster.node.stop()
        }
    }
}

#if canImport(Glibc)
    private let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
    private let descriptors = RLIMIT_NOFILE
#endif
