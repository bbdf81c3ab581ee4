import Statecast
import StatecastCoding
import Testing

/// Snapshots and patches of a typed replica, whose type may be of another build.
@Suite struct `The typed content of a replica` {
    private func content<Shown: Codable & Sendable>(
        of type: Shown.Type,
        from state: Board
    ) throws -> TypedContent<Shown> {
        var content = TypedContent<Shown>()
        try content.install(try StateEncoder().encode(state))
        return content
    }

    /// Follows a state through its changes; the digest must be the primary's at each step.
    private func follow<Shown: Codable & Equatable & Sendable>(
        _ type: Shown.Type,
        _ changes: [@Sendable (inout Board) -> Void]
    ) throws {
        var board = Board.example
        var content = try content(of: type, from: board)
        var summary = Summary(of: try StateEncoder().value(of: board))
        #expect(try content.digest() == summary.digest)
        for change in changes {
            let old = board
            change(&board)
            let difference = try Differ.patch(from: old, to: board)
            summary.advance(by: difference)
            try content.apply(difference.patch)
            #expect(try content.digest() == summary.digest)
            #expect(try content.state() == StateDecoder().decode(type, from: StateEncoder().encode(board)))
        }
    }

    private static let changes: [@Sendable (inout Board) -> Void] = [
        { $0.rows["a"]?.count += 1 },
        { $0.rows["c"] = Board.Row(count: 7, note: "new") },
        { $0.rows["b"] = nil },
        { $0.title = "other" },
        { $0.tags.append("z") },
        { $0.tags.removeFirst() },
        { $0.extra = 5 },
        { $0.extra = nil },
        { $0.rows["c"]?.note = "changed" },
    ]

    @Test func `The typed content of a replica follows with the type of the primary`() throws {
        try follow(Board.self, Self.changes)
    }

    @Test
    func `The typed content of a replica follows with a type that has fewer fields, and keeps the others`() throws {
        try follow(OlderBoard.self, Self.changes)
    }

    @Test func `The typed content of a replica follows with a type that has more fields`() throws {
        try follow(NewerBoard.self, Self.changes)
    }

    @Test func `The typed content of a replica follows with a type that holds a part in another form`() throws {
        try follow(OtherBoard.self, Self.changes)
    }

    @Test func `The typed content of a replica follows with a type that leaves out rows`() throws {
        try follow(PickyBoard.self, Self.changes)
    }

    @Test func `The typed content of a replica refuses a state that does not fit, and has none then`() throws {
        var content = TypedContent<[Int]>()
        let failure = #expect(throws: CodingFailure.self) {
            try content.install(try StateEncoder().encode(Board.example))
        }
        #expect(failure?.message == "expected an array, got a map of 3")
        #expect(throws: CodingFailure.self) { try content.state() }
        #expect(throws: CodingFailure.self) { try content.apply(.none) }
    }

    @Test func `A replica's typed content has no state after an unfit patch, until the next snapshot`() throws {
        var content = try content(of: Board.self, from: .example)
        let misfit = Patch(from: ["rows": ["x": ["count": 1]]], to: ["rows": ["x": ["count": 2]]])
        #expect(throws: CodingFailure.self) { try content.apply(misfit) }
        #expect(throws: CodingFailure.self) { try content.state() }
        try content.install(try StateEncoder().encode(Board.example))
        #expect(try content.state() == .example)
    }
}

private struct Board: Codable, Equatable, Sendable {
    struct Row: Codable, Equatable, Sendable {
        var count: Int
        var note: String
    }

    var title = "board"
    var rows: Table<String, Row> = [:]
    var tags: [String] = []
    var extra: Int?

    static let example = Board(
        rows: ["a": Row(count: 1, note: "x"), "b": Row(count: 2, note: "y")],
        tags: ["p", "q", "p"]
    )
}

private struct OlderBoard: Codable, Equatable, Sendable {
    struct Row: Codable, Equatable, Sendable { var count: Int }

    var rows: [String: Row]
    var extra: Int?
}

private struct NewerBoard: Codable, Equatable, Sendable {
    struct Row: Codable, Equatable, Sendable {
        var count: Int
        var note: String
        var color = "none"

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            count = try container.decode(Int.self, forKey: .count)
            note = try container.decode(String.self, forKey: .note)
            color = try container.decodeIfPresent(String.self, forKey: .color) ?? "none"
        }
    }

    var title: String
    var rows: Table<String, Row>
    var tags: [String]
    var extra: Int?
}

/// Its tags lose their order and their duplicates.
private struct OtherBoard: Codable, Equatable, Sendable {
    var title: String
    var tags: Set<String>
}

/// Keeps the rows with small counts.
private struct PickyBoard: Codable, Equatable, Sendable {
    var rows: [String: Board.Row]

    enum CodingKeys: String, CodingKey { case rows }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rows = try container.decode([String: Board.Row].self, forKey: .rows).filter { $0.value.count < 5 }
    }
}
