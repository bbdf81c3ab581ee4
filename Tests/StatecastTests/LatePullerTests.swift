import SyncProtocol
import Testing
import ZeroMQ

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `A primary that reads late` {
    enum Way: String, CaseIterable, Codable, Sendable {
        case actions, subscriptions

        var peer: String { self == .actions ? "PUSH" : "SUB" }
    }

    /// libzmq ends the process if a connection breaks while its queue is full and a PING of the peer is unread.
    @Test(arguments: Way.allCases)
    func `lives on, though peers whose messages and pings wait went away`(way: Way) async {
        await #expect(processExitsWith: .success) { [way] in
            let socket =
                switch way {
                case .actions: try Socket(.pull, options: .puller(Limits()))
                case .subscriptions: try Socket(.xpub, options: .publisher(PrimaryConfiguration()))
                }
            let endpoint = try socket.bind(Endpoint("tcp://127.0.0.1:*"))
            // One thread of libzmq serves all connections: once this one is answered, it has seen what the others sent.
            func awaitThread() throws { try RawConnection(to: endpoint, as: way.peer).reset() }
            for count in [2, 10, 1_100] {
                for _ in 0..<5 {
                    let peer = try RawConnection(to: endpoint, as: way.peer)
                    try peer.send(messagesAndPing: (0..<count).map { [1] + Array("\($0)".utf8) })
                    try awaitThread()
                    peer.reset()
                }
                try awaitThread()
                while try socket.receive() != nil {}
                try awaitThread()
            }
        }
    }
}
