import ArgumentParser
import StateCoding
import Testing

@testable import CommandLineSupport
@testable import Statecast

@Suite struct FollowingGoalTests {
    private func goal(select: String? = nil, once: Bool = false, until: UInt64? = nil) -> FollowingGoal {
        FollowingGoal(select: select, once: once, until: until.map { Revision($0) }, timeout: nil)
    }

    private func snapshot(_ revision: UInt64) -> StateSnapshot<Value> {
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(revision))
        return StateSnapshot(state: .null, position: position)
    }

    @Test func `without a goal nothing is the last state`() {
        #expect(!goal().hasEnd)
        #expect(!goal().isReached(by: snapshot(.max)))
    }

    @Test func `once ends with the first state, whatever its revision`() {
        #expect(goal(once: true).hasEnd)
        #expect(goal(once: true).isReached(by: snapshot(0)))
    }

    @Test func `until ends with its revision or a later one`() {
        #expect(goal(until: 5).hasEnd)
        for (revision, isReached) in [(4, false), (5, true), (6, true)] as [(UInt64, Bool)] {
            #expect(goal(until: 5).isReached(by: snapshot(revision)) == isReached)
        }
    }

    @Test func `a part is selected by its path, and is null where there is none`() {
        let state: Value = ["hosts": ["web-1": ["load1": 0.42]], "notes": ["first", "second"]]
        #expect(goal().part(of: state) == state)
        #expect(goal(select: "hosts.web-1.load1").part(of: state) == 0.42)
        #expect(goal(select: "notes.1").part(of: state) == "second")
        for path in ["notes.2", "hosts.db-1", "hosts.web-1.load1.more", "nothing"] {
            #expect(goal(select: path).part(of: state) == .null, "\(path)")
        }
    }

    @Test func `a timeout says how far it came, or that nobody answered`() async throws {
        let settings = try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        let upstream = try await Upstream(settings)
        let some = goal(until: 5).timedOut(after: .seconds(2), upstream, snapshot(3))
        #expect(some.exitCode == .failure)
        #expect(some.message == "timed out after 2.0 seconds: revision 3 was reached, not 5")
        let none = goal(until: 5).timedOut(after: .seconds(2), upstream, nil)
        #expect(none.exitCode == .failure)
        #expect(none.message.contains("store counter from tcp://127.0.0.1:7100"))
        #expect(none.message.contains("--from"))
    }

    @Test func `being asked to stop before the last state says the same`() async throws {
        let upstream = try await Upstream(
            try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        )
        let some = goal(until: 5).interrupted(upstream, snapshot(3))
        #expect(some.exitCode == .failure)
        #expect(some.message == "interrupted: revision 3 was reached, not 5")
        #expect(
            goal(once: true).interrupted(upstream, nil).message.hasPrefix("interrupted: no live state of store counter")
        )
    }

    @Test(arguments: [
        ("hsots", "the state has no hsots; did you mean hosts?"),
        ("hosts.web-2.load1", "hosts has no web-2; did you mean web-1?"),
        ("hosts.database", "hosts has no database, but web-1"), ("notes.2", "notes has the elements 0 to 1"),
        ("notes.first", "notes has the elements 0 to 1"), ("none.0", "none is empty"), ("none", nil),
        ("hosts.web-1.load1.more", "hosts.web-1.load1 has no parts"), ("hosts.web-1.load1", nil), ("nothing", nil),
    ]) func `a path that leads nowhere is told from one that leads to null`(path: String, reason: String?) {
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
