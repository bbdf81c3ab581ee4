import StateCoding
import SyncProtocol
import Testing

@testable import Statecast

/// A state that cannot be encoded is never published: nobody could follow it.
@Suite struct `An action that leads to a state without an encoding` {
    struct Note: Codable, Equatable, Sendable { var text = "" }

    @Test func `is rejected with the field and the reason, and taken back`() throws {
        let bench = try HostBench(
            Note(),
            actions: [Written.self],
            reducer: Reducer { note, action in note.text += (action as? Written)?.line ?? "" }
        )
        bench.host.begin()
        // Each may come in. Two of them in a row are more marks than a text may have.
        let marks = String(repeating: "\u{301}\u{316}", count: 300)
        try bench.push(Written(line: marks), Written(line: marks), Written(line: "."), Written(line: marks))
        bench.settle()
        let reason = "text: expected a text with at most 1024 combining marks in a row, got one with more"
        #expect(bench.receipts[1] == .applied(Revision(1)))
        #expect(
            bench.receipts[2]
                == .rejected(Rejection(.unencodable, "the state cannot be published after it: \(reason)"))
        )
        #expect(bench.receipts[3] == .applied(Revision(2)))
        #expect(bench.receipts[4] == .applied(Revision(3)))
        var note = Note()
        for update in bench.updates { try Patch(decoding: update.patch).apply(to: &note) }
        #expect(note.text == marks + "." + marks)
    }
}
