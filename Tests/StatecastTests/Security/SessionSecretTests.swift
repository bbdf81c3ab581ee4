import CounterApp
import Foundation
import Statecast
import StatecastCore
import StatecastProtocol
import StatecastSQLite
import Testing

/// The secret of a session is what continues it: only its sender's frames and session file contain it.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `The secret of a session` {
    private func bytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian), Array.init)
    }

    @Test func `The secret of a session is not in its description`() {
        let secret = SessionSecret(high: 0x5ca1_ab1e_0ddb_a11f, low: 0x00dc_afe5_eed5_eaf1)
        // Of section 8.1 of the protocol, made with Python's hashlib.
        #expect("\(secret)" == "the secret of session eccac45aa1aa597e68cb09da457664dc")
        let checkpoint = String(reflecting: SessionCheckpoint(fresh: secret))
        #expect(!checkpoint.contains("5ca1ab1e") && !checkpoint.contains("\(secret.high)"))
    }

    @Test func `The secret of a session is in no message of a primary, and in no file of its journal`() async throws {
        let folder = try TemporaryFolder()
        let primary = try Primary.counter(journal: SQLiteJournal(at: folder.path + "/journal"))
        let peer = try await RawPeer(try await primary.start())
        try await peer.subscribe(bytes: [])
        let session = try await RawSession(of: peer)
        let secret = session.secret
        let actions = [WireAction.increase, WireAction.named("Unknown")]
        var messages: [[UInt8]] = []
        /// Pushes the actions, and collects what is published up to an answer to them.
        func push(_ first: UInt64, until isAnswer: (Frame) -> Bool) async throws {
            try await session.send(actions, first: first)
            for await message in peer.received {
                messages.append(message)
                if isAnswer(try Message.decode(message).frame) { return }
            }
        }
        // Applied and rejected; known already; and refused, since others are missing before it.
        for _ in 0..<2 { try await push(1) { if case .receipts = $0 { true } else { false } } }
        try await push(9) { if case .expected = $0 { true } else { false } }
        await primary.stop()

        let (hidden, shown) = (bytes(secret.high, secret.low), bytes(secret.session.high, secret.session.low))
        let text = [secret.high, secret.low].map { String($0, radix: 16) }
        #expect(messages.count >= 3)
        for message in messages {
            #expect(!message.contains(hidden))
            #expect(text.allSatisfy { !message.contains($0.utf8) })
        }
        var found = 0
        let files = try #require(FileManager.default.enumerator(atPath: folder.path))
        for case let file as String in files {
            guard let data = FileManager.default.contents(atPath: "\(folder.path)/\(file)") else { continue }
            #expect(data.firstRange(of: hidden) == nil, "\(file) contains the secret")
            if data.firstRange(of: shown) != nil { found += 1 }
        }
        #expect(found > 0, "no file contains the session: the search is wrong")
    }
}
