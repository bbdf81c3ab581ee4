import StateCoding
import SyncProtocol
import Testing

@testable import Statecast

/// Patches that come together, and are applied as one.
@Suite struct `A document that is busy` {
    private let lineage = Lineage(bits: 1)

    private func position(_ revision: UInt64) -> Position {
        Position(lineage: lineage, epoch: Epoch(1), revision: Revision(revision))
    }

    private func document(with state: Value) throws -> Document<Value> {
        var document = Document(UntypedContent(), bytesMax: .max)
        try document.take(.install(snapshot: state.encoded, position(0), digest: Summary(of: state).digest))
        return document
    }

    private func patch(_ wire: Value) -> [UInt8] { wire.encoded }

    @Test func `shows the state after all that came, and its digest`() throws {
        var document = try document(with: ["log": [0, 1, 2], "rows": [:], "n": 0])
        let count: UInt64 = 5000
        for number in 1...count {
            let changes: Value = [
                "log": [[0, 1, []], [2, 0, [.unsigned(number)]]],
                "rows": .map([.unsigned(number * 7919 % 512): [.unsigned(number)]]),
                "n": [.unsigned(number)],
            ]
            try document.take(.apply(patch: patch(changes), position(number)))
        }
        var rows = ValueMap()
        for number in 1...count { rows[.unsigned(number * 7919 % 512)] = .unsigned(number) }
        let state: Value = [
            "log": .array((count - 2...count).map { .unsigned($0) }), "rows": .map(rows), "n": .unsigned(count),
        ]
        try document.take(.verify(position(count), digest: Summary(of: state).digest))
        try document.settle()
        #expect(try document.shown()?.state == state)
        #expect(document.position == position(count))
    }

    @Test func `forgets them when a snapshot comes`() throws {
        var document = try document(with: ["n": 0])
        try document.take(.apply(patch: patch(["n": [1]]), position(1)))
        let other: Value = ["m": 7]
        try document.take(.install(snapshot: other.encoded, position(5), digest: Summary(of: other).digest))
        try document.settle()
        #expect(try document.shown()?.state == other)
    }

    @Test func `ignores what follows a patch that cannot be read, and one that does not fit`() throws {
        for wire in [7, ["absent": ["x": [1]]]] as [Value] {
            var document = try document(with: ["n": 0])
            try document.take(.apply(patch: patch(["n": [1]]), position(1)))
            #expect(throws: DocumentFailure.self) {
                try document.take(.apply(patch: patch(wire), position(2)))
                try document.settle()
            }
            try document.take(.apply(patch: patch(["n": [3]]), position(3)))
            try document.settle()
            #expect(document.position == nil)
            #expect(try document.shown() == nil)
        }
    }
}
