import Foundation
import Statecast
import Testing

/// Actions that end the process of the primary, each in a batch with others that is reduced again in halves.
@Suite(.timeLimit(.minutes(10))) struct `An action that ends the process` {
    private struct Counted: Action {}
    private struct Unpublishable: Action {}
    private struct Poison: Action {
        let place: String
        let pass: Int
    }

    /// The outcomes of actions, and how the primaries ended.
    private struct Result {
        var codes: [Rejection.Code?] = []
        var revisions: [UInt64] = []
        var endings: [Tool.Ending] = []
        var lastRevision = ""
        /// The lines of statecast-journal.
        var actions: [String] = []
    }

    /// Sends actions to primaries, one after the other.
    ///
    /// - Parameter options: of each primary.
    private func send(_ actions: [any Action], to options: [[String]]) async throws -> Result {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let endpoints = ["publish", "actions"].map { "ipc://\(folder.path)/\($0)" }
        let sender = try ActionSender(store: "poison", from: endpoints[0])
        var pending: [PendingReceipt] = []
        // Before the sender runs, so that they share a frame.
        for action in actions { pending.append(try await sender.submit(action)) }
        let sending = Task { try await sender.run() }
        var result = Result()
        for options in options {
            let (_, ending) = try await Tool.poison.running([journal] + endpoints + options) { [pending] tool in
                let answering = Task {
                    for receipt in pending { _ = try await receipt.outcome() }
                    tool.send(SIGTERM)
                }
                for await _ in tool.lines {}
                answering.cancel()
            }
            result.endings.append(ending)
        }
        sending.cancel()
        _ = try? await sending.value
        for receipt in pending {
            switch try await receipt.outcome().result {
            case .success(let receipt):
                result.codes.append(nil)
                result.revisions.append(receipt.revision.rawValue)
            case .failure(let rejection): result.codes.append(rejection.code)
            }
        }
        let info = try await Tool.journal.run(["info", journal]).output
        result.actions = try await Tool.journal.run(["actions", journal]).output
        result.lastRevision = info.first { $0.hasPrefix("revisions") } ?? "\(info)"
        return result
    }

    private func batch(_ poison: Poison) -> [any Action] { [Counted(), Unpublishable(), Counted(), poison, Counted()] }

    @Test(arguments: ["decoding", "middleware", "encoding", "reducer"], [1, 2])
    func `An action that ends the process twice is rejected, and all others are applied once`(
        place: String,
        pass: Int
    ) async throws {
        // Without a middleware, an action is not encoded again.
        let options = ["middleware", "encoding"].contains(place) ? ["middleware"] : []
        let result = try await send(
            batch(Poison(place: place, pass: pass)),
            to: Array(repeating: options, count: 3)
        )
        for ending in result.endings.prefix(2) { #expect([SIGILL, SIGTRAP].contains(ending.signal), "\(ending)") }
        #expect(result.endings[2].signal == SIGTERM, "\(result.endings[2])")
        #expect(result.codes == [nil, .tooLarge, nil, .crashedReducer, nil])
        #expect(result.revisions == [1, 2, 3])
        #expect(result.lastRevision.hasSuffix(" 0 to 3"), "\(result.lastRevision)")
        let reason = "the primary crashed twice in a row while it reduced Poison, and does not try again"
        #expect(result.endings[2].errors.contains(reason), "\(result.endings[2].errors)")
        #expect(result.actions.filter { $0.contains(#""code":"crashed-reducer""#) && $0.contains(reason) }.count == 1)
    }

    /// The state is encoded for a whole batch.
    @Test(arguments: [1, 2])
    func `No action is rejected because the process ends when the state is encoded`(pass: Int) async throws {
        let result = try await send(batch(Poison(place: "state", pass: pass)), to: [[], [], [], ["repaired"]])
        for ending in result.endings.prefix(3) { #expect([SIGILL, SIGTRAP].contains(ending.signal), "\(ending)") }
        #expect(result.endings[3].signal == SIGTERM, "\(result.endings[3])")
        #expect(result.codes == [nil, .tooLarge, nil, nil, nil])
        #expect(result.revisions == [1, 2, 3, 4])
        #expect(result.lastRevision.hasSuffix(" 0 to 4"), "\(result.lastRevision)")
    }
}
