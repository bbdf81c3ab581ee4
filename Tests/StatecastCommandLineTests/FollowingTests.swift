import ArgumentParser
import StatecastCoding
import Testing

@testable import Statecast
@testable import StatecastCommandLine

@Suite struct FollowGoalTests {
    private func goal(select: String? = nil, end: FollowGoal.End = .never) throws -> FollowGoal {
        FollowGoal(select: try select.map { try StatePath($0) }, end: end, timeout: nil)
    }

    private func snapshot(_ revision: UInt64) -> StateSnapshot<Value> {
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(revision))
        return StateSnapshot(state: .null, position: position)
    }

    @Test func `without a given end no state is the last one`() throws {
        #expect(try !goal().hasEnd)
        #expect(try !goal().isReached(by: snapshot(.max)))
    }

    @Test func `the first state is the last one, whatever its revision`() throws {
        #expect(try goal(end: .firstState).hasEnd)
        #expect(try goal(end: .firstState).isReached(by: snapshot(0)))
    }

    @Test func `a revision or a later one is the last state`() throws {
        #expect(try goal(end: .revision(5)).hasEnd)
        for (revision, isReached) in [(4, false), (5, true), (6, true)] as [(UInt64, Bool)] {
            #expect(try goal(end: .revision(5)).isReached(by: snapshot(revision)) == isReached)
        }
    }

    @Test func `a path selects a part, or null if it leads nowhere`() throws {
        let state: Value = ["hosts": ["web-1": ["load1": 0.42]], "notes": ["first", "second"]]
        #expect(try goal().part(of: state) == state)
        #expect(try goal(select: "hosts.web-1.load1").part(of: state) == 0.42)
        #expect(try goal(select: "notes.1").part(of: state) == "second")
        for path in ["notes.2", "hosts.db-1", "hosts.web-1.load1.more", "nothing"] {
            #expect(try goal(select: path).part(of: state) == .null, "\(path)")
        }
    }

    @Test func `a timeout names the last revision, or says that no state came`() async throws {
        let settings = try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        let upstream = try await Upstream(settings)
        let some = try goal(end: .revision(5)).timedOut(after: .seconds(2), upstream, snapshot(3))
        #expect(some.exitCode == .failure)
        #expect(some.message == "timed out after 2.0 seconds: revision 3 was reached, not 5")
        let none = try goal(end: .revision(5)).timedOut(after: .seconds(2), upstream, nil)
        #expect(none.exitCode == .failure)
        #expect(none.message.contains("store counter from tcp://127.0.0.1:7100"))
        #expect(none.message.contains("--from"))
    }

    @Test
    func `an interruption before the last state names the last revision, or says that no state came`() async throws {
        let upstream = try await Upstream(
            try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        )
        let some = try goal(end: .revision(5)).interrupted(upstream, snapshot(3))
        #expect(some.exitCode == .failure)
        #expect(some.message == "interrupted: revision 3 was reached, not 5")
        #expect(
            try goal(end: .firstState).interrupted(upstream, nil).message.hasPrefix(
                "interrupted: no live state of store counter"
            )
        )
    }

    @Test(arguments: [
        ("hsots", "the state has no hsots; did you mean /hosts?"),
        ("hosts.web-2.load1", "/hosts has no web-2; did you mean /hosts/web-1?"),
        ("hosts.database", "/hosts has no database, but web-1"), ("notes.2", "/notes has the elements 0 to 1"),
        ("notes.first", "/notes has the elements 0 to 1"), ("none.0", "/none is empty"), ("none", nil),
        ("hosts.web-1.load1.more", "/hosts/web-1/load1 has no parts"), ("hosts.web-1.load1", nil), ("nothing", nil),
        ("/", "the state has no empty key, but none, hosts, notes, nothing, long.name.of"),
        ("/hosts/web~11", "/hosts has no web/1; did you mean /hosts/web-1?"),
        ("long.name", "the state has no long; did you mean /long.name.of?"),
    ]) func `a path that leads nowhere differs from one that leads to null`(path: String, reason: String?) throws {
        let state: Value = [
            "hosts": ["web-1": ["load1": 0.42]], "notes": ["first", "second"], "none": [], "nothing": .null,
            "long.name.of": 1,
        ]
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: 3)
        let snapshot = StateSnapshot(state: state, position: position)
        let pointer = path.hasPrefix("/") ? path : "/" + path.replacing(".", with: "/")
        #expect(
            try goal(select: path).absence(in: snapshot)
                == reason.map { "revision 3 has nothing at \(pointer): \($0)" }
        )
        #expect(try goal().absence(in: snapshot) == nil)
    }
}

@Suite struct StatePathTests {
    private let state: Value = .map([
        "hosts": ["web-1.example.com": 1, "a/b": 2, "m~n": 3, "": 4, "web": ["1": 5]], "": "empty", "notes": ["first"],
        "rooms": .map([7: "integer", -7: "negative", "8": "text", 8: "hidden"]), "17": "text",
    ])

    @Test(
        arguments: [
            ("/hosts/web-1.example.com", 1), ("/hosts/a~1b", 2), ("/hosts/m~0n", 3), ("/hosts/", 4),
            ("/hosts/web/1", 5),
            ("/", "empty"), ("/notes/0", "first"), ("/rooms/7", "integer"), ("/rooms/-7", "negative"),
            ("/rooms/8", "text"),
            ("/17", "text"), ("hosts.web.1", 5), ("rooms.8", "text"), ("rooms.7", "integer"), ("notes.0", "first"),
        ] as [(String, Value)]
    ) func `a path leads to a part`(path: String, part: Value) throws {
        #expect(try StatePath(path).part(of: state) == part)
    }

    @Test(arguments: [
        "/hosts/web-1", "/notes/1", "/notes/-", "//", "/rooms/9", "/hosts/a/b", "hosts.web-1.example.com",
    ])
    func `another path leads nowhere`(path: String) throws {
        #expect(try StatePath(path).part(of: state) == nil)
    }

    @Test(arguments: ["", "/", "//", "/a~0b/c~1d", "/é/~01"])
    func `a pointer is printed as it was given`(text: String) throws {
        #expect(try StatePath(text).description == text)
    }

    @Test(arguments: ["/a~", "/~2", "/a/b~x/c"]) func `a tilde that escapes nothing is refused`(text: String) {
        let failure = #expect(throws: CommandFailure.self) { try StatePath(text) }
        #expect(failure?.exitCode.rawValue == 64)
        #expect(failure?.message.contains("a tilde in a key is ~0") == true)
    }
}

@Suite struct HistoryNoticeTests {
    private static let shown = position(1, epoch: 6, revision: 100)

    private static func position(_ lineage: UInt64, epoch: UInt64, revision: UInt64) -> Position {
        Position(lineage: Lineage(bits: lineage), epoch: Epoch(epoch), revision: Revision(revision))
    }

    private func notice(_ position: Position) async throws -> String? {
        position.notice(after: Self.shown, from: try await Upstream(try await Settings(flags: [:], file: nil)))
    }

    @Test func `the first state and a later one are new, without a notice`() async throws {
        #expect(Self.shown.isNew(after: nil))
        for position in [Self.position(1, epoch: 6, revision: 101), Self.position(1, epoch: 7, revision: 101)] {
            #expect(position.isNew(after: Self.shown))
            #expect(try await notice(position) == nil)
        }
    }

    @Test func `the same state, or an older one of the same epoch, is not new`() async throws {
        for position in [
            Self.shown, Self.position(1, epoch: 7, revision: 100), Self.position(1, epoch: 6, revision: 99),
            Self.position(1, epoch: 5, revision: 99),
        ] {
            #expect(!position.isNew(after: Self.shown))
            #expect(try await notice(position) == nil)
        }
    }

    @Test func `a rewound state is new, with a notice`() async throws {
        let position = Self.position(1, epoch: 7, revision: 99)
        #expect(position.isNew(after: Self.shown))
        #expect(
            try await notice(position)
                == "the primary at tcp://127.0.0.1:7100 lost changes and went back: revision 99 of epoch 7 "
                + "follows revision 100 of epoch 6"
        )
    }

    @Test(arguments: [99, 100, 101] as [UInt64])
    func `a state of another lineage is new, with a notice, whatever its revision`(revision: UInt64) async throws {
        let position = Self.position(2, epoch: 6, revision: revision)
        #expect(position.isNew(after: Self.shown))
        #expect(try await notice(position)?.contains("began a new history") == true)
    }
}
