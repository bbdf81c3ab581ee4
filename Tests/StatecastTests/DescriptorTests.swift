import CounterApp
import Foundation
import Statecast
import Testing

/// libzmq ends a process that has too few file descriptors, unless its socket is refused before.
@Suite(.timeLimit(.minutes(10))) struct `With few file descriptors` {
    @Test(arguments: 8...48)
    func `With few descriptors a node starts, or is refused with the limit and the ways to raise it`(limit: Int) async {
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
}

#if canImport(Glibc)
    private let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
    private let descriptors = RLIMIT_NOFILE
#endif
