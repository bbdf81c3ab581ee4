import ArgumentParser
import StateCoding
import Testing

@testable import CommandLineSupport
@testable import Statecast

@Suite struct FollowGoalTests {
    private func goal(select: String? = nil, end: FollowGoal.End = .never) -> FollowGoal {
        FollowGoal(select: select, end: end, timeout: nil)
    }

    private func snapshot(_ revision: UInt64) -> StateSnapshot<Value> {
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(revision))
        return StateSnapshot(state: .null, position: position)
    }

    @Test func `without an end no state is the last one`() {
        #expect(!goal().hasEnd)
        #expect(!goal().isReached(by: snapshot(.max)))
    }

    @Test func `the first state is the last one, whatever its revision`() {
        #expect(goal(end: .firstState).hasEnd)
        #expect(goal(end: .firstState).isReached(by: snapshot(0)))
    }

    @Test func `a revision or a later one is the last state`() {
        #expect(goal(end: .revision(5)).hasEnd)
        for (revision, isReached) in [(4, false), (5, true), (6, true)] as [(UInt64, Bool)] {
            #expect(goal(end: .revision(5)).isReached(by: snapshot(revision)) == isReached)
        }
    }

    @Test func `a path selects a part, or null if it leads nowhere`() {
        let state: Value = ["hosts": ["web-1": ["load1": 0.42]], "notes": ["first", "second"]]
        #expect(goal().part(of: state) == state)
        #expect(goal(select: "hosts.web-1.load1").part(of: state) == 0.42)
        #expect(goal(select: "notes.1").part(of: state) == "second")
        for path in ["notes.2", "hosts.db-1", "hosts.web-1.load1.more", "nothing"] {
            #expect(goal(select: path).part(of: state) == .null, "\(path)")
        }
    }

    @Test func `a timeout names the last revision, or says that no state came`() async throws {
        let settings = try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        let upstream = try await Upstream(settings)
        let some = goal(end: .revision(5)).timedOut(after: .seconds(2), upstream, snapshot(3))
        #expect(some.exitCode == .failure)
        #expect(some.message == "timed out after 2.0 seconds: revision 3 was reached, not 5")
        let none = goal(end: .revision(5)).timedOut(after: .seconds(2), upstream, nil)
        #expect(none.exitCode == .failure)
        #expect(none.message.contains("store counter from tcp://127.0.0.1:7100"))
        #expect(none.message.contains("--from"))
    }

    @Test func `an interruption before the last state says the same`() async throws {
        let upstream = try await Upstream(
            try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        )
        let some = goal(end: .revision(5)).interrupted(upstream, snapshot(3))
        #expect(some.exitCode == .failure)
        #expect(some.message == "interrupted: revision 3 was reached, not 5")
        #expect(
            goal(end: .firstState).interrupted(upstream, nil).message.hasPrefix(
                "interrupted: no live state of store counter"
            )
        )
    }

    @Test(arguments: [
        ("hsots", "the state has no hsots; did you mean hosts?"),
        ("hosts.web-2.load1", "hosts has no web-2; did you mean web-1?"),
        ("hosts.database", "hosts has no database, but web-1"), ("notes.2", "notes has the elements 0 to 1"),
        ("notes.first", "notes has the elements 0 to 1"), ("none.0", "none is empty"), ("none", nil),
        ("hosts.web-1.load1.more", "hosts.web-1.load1 has no parts"), ("hosts.web-1.load1", nil), ("nothing", nil),
    ]) func `a path that leads nowhere differs from one that leads to null`(path: String, reason: String?) {
        let state: Value = [
            "hosts": ["web-1": ["load1": 0.42]], "notes": ["first", "second"], "none": [], "nothing": .null,
        ]
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: 3)
        let snapshot = StateSnapshot(state: state, position: position)
        #expect(
            goal(select: path).absence(in: snapshot) == reason.map { "revision 3 has nothing at \(path): \($0)" }
        )
        #expect(goal().absence(in: snapshot) == nil)
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
