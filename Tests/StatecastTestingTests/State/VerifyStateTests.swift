import CounterApp
import FleetApp
import StatecastCore
import Testing

@testable import StatecastTesting

@Suite struct `Verifying a state` {
    @Test func `Verifying a state passes sound states`() {
        verifyState(Garden())
        verifyState(Garden.summer, .winter)
    }

    @Test func `Verifying a state passes the states of the examples`() {
        verifyState(Counter(counter: 3, step: 2))
        verifyState(Fleet(), Self.fleet)
    }

    private static var fleet: Fleet {
        var fleet = Fleet()
        let actions: [any Action] = [
            HostSampled(host: "alpha", sample: .example), HostSampled(host: "beta", sample: .example),
            HostSampled(host: "beta", sample: .example), HostRetired(host: "alpha"),
            NoteAdded(host: "beta", text: "new"),
            NoteAdded(host: nil, text: "all is well"),
        ]
        for action in actions {
            _ = Fleet.reducer.reduce(into: &fleet, action, context: ActionContext(time: .epoch))
        }
        return fleet
    }

    @Test func `Verifying a state accepts NaN`() {
        var garden = Garden.summer
        garden.warmth = .nan
        verifyState(garden, Garden.summer)
    }

    @Test func `Verifying a state reports a state without variants`() async {
        await expectIssues("Expected a state that can change; the type accepts no change of {}.") {
            verifyState(Nothing())
        }
        verifyState(Season.spring, .summer)
    }

    @Test func `Verifying a state reports a class instance`() async {
        await expectIssues(
            "Expected only values in the state: beds.0.gnome: Gnome is a class: its changes cannot be seen; make it a "
                + "struct"
        ) { verifyState(Yard(beds: [Yard.Bed(gnome: Gnome())])) }
    }

    @Test func `Verifying a state reports a class without an instance`() async {
        await expectIssues("Expected only values in the state: beds.gnome: Gnome is a class") {
            verifyState(Yard(beds: []))
        }
    }

    @Test func `Verifying a state names a part without an encoding`() async {
        await expectIssues("Expected the state to have an encoding: depth: no text") {
            verifyState(Unwritable())
        }
    }

    @Test func `Verifying a state names a part that cannot be decoded`() async {
        await expectIssues(
            "Expected the state to be decoded from its own encoding, got the error: inner: missing the key \"b\""
        ) {
            verifyState(Outer(inner: Renamed(a: 1)))
        }
    }

    @Test func `Verifying a state names a field that decoding loses`() async {
        await expectIssues(
            """
            Expected the state to be the same after decoding; at `inner.a` it was encoded as the integer 1, and after \
            decoding as the integer 0. Let init(from:) read all that encode(to:) writes.
            """
        ) { verifyState(Outer(inner: Forgetful(a: 1))) }
    }

    @Test func `Verifying a state names a collection whose order changes`() async {
        await expectIssues("at `tags` the state is encoded differently each time, once as [") {
            verifyState(Outer(inner: 1, tags: Direct(content: Set(["a"]))))
        }
        await expectIssues("at `tags` the state is encoded differently each time, once as [") {
            verifyState(Outer(inner: 1, tags: Direct(content: [Place(row: 1, column: 2): 3])))
        }
        verifyState(Outer(inner: 1, tags: Set(["a", "b"])))
    }

    @Test func `Verifying a state names a part whose encoding changes each time`() async {
        await expectIssues("at `inner` the state is encoded differently each time") {
            verifyState(Outer(inner: Restless()))
        }
    }

    @Test func `Verifying a state reports a field that is not encoded`() async {
        await expectIssues(
            "the state and the state decoded from its encoding have the same. A replica never gets a field"
        ) {
            verifyState(Outer(inner: Partial(a: 1, hidden: 2)))
        }
        await expectIssues(
            "Expected states that are not == to have different encodings; state 1 and state 2 have the same."
        ) {
            verifyState(Wildcard(a: 1, hidden: 1), Wildcard(a: 1, hidden: 2))
        }
    }

    @Test func `Verifying a state names an equality that overlooks a difference`() async {
        await expectIssues(
            """
            Expected states with different encodings not to be ==; the state and the state with another `inner.b` are, \
            though at `inner.b` one is encoded as the integer 2 and the other as the integer 3.
            """
        ) { verifyState(Outer(inner: Careless(a: 1, b: 2))) }
        await expectIssues(
            "state 1 and state 2 are, though at `inner.b` one is encoded as the integer 2 and the other as the integer "
                + "9"
        ) {
            verifyState(Outer(inner: Careless(a: 1, b: 2)), Outer(inner: Careless(a: 1, b: 9)))
        }
    }

    @Test func `Verifying a state reports a problem once, with its places`() async {
        let many = (0..<9).map { Careless(a: $0, b: $0) }
        await expectIssues("`inner.4.b`, `inner.5.b` and 3 more.") { verifyState(Outer(inner: many)) }
    }

    @Test func `Verifying a state names an equality that differs with itself`() async {
        await expectIssues("Expected the state to be == to itself, and there is no NaN in it.") {
            verifyState(Outer(inner: Never(a: 1)))
        }
    }

    @Test func `Verifying a state names a part that patches miss`() async {
        await expectIssues(
            """
            Expected the patch from the state to the state with another `part.b` to lead there; at `part.b` its tree \
            has the integer 2 instead of the integer 3.
            """
        ) { verifyState(Strict(part: Careless(a: 1, b: 2))) }
    }

    @Test func `Verifying a state reports each kind of problem`() async {
        await expectIssues("state 1 and the state decoded", "state 2 and state 2 with another `inner.b` are") {
            verifyState(
                Outer(inner: Careless(a: 1, b: 2), tags: Partial(a: 1, hidden: 1)),
                Outer(inner: Careless(a: 1, b: 2), tags: Partial(a: 1, hidden: 0))
            )
        }
    }
}

@Suite struct `The problems of a state` {
    @Test func `The problems of a state are reported once for each place`() {
        var problems = StateProblems()
        for path in [["a"], ["a"], ["b"], ["b"]] { problems.add(.lossy, at: path, "Lost \(path[0]).") }
        problems.add(.unpatchable, at: [], "Passed over.")
        #expect(problems.issues == ["Lost a.\n\nLikewise at: `b`.", "Passed over."])
    }

    @Test func `The problems of a state of patches are left out where equality is the cause`() {
        var problems = StateProblems()
        problems.add(.unpatchable, at: ["a"], "Passed over a.")
        problems.add(.overlooked, at: ["a"], "Overlooked a.")
        problems.add(.unpatchable, at: ["b"], "Passed over b.")
        #expect(problems.issues == ["Overlooked a.", "Passed over b."])
    }
}
