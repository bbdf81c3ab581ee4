import CounterApp
import FleetApp
import StateCore
import StatecastTesting
import Testing

@Suite struct `Verifying a state` {
    @Test func `passes what is coded and compared as it should be`() {
        verifyState(Garden())
        verifyState(Garden.summer, .winter)
    }

    @Test func `passes the states of the examples`() {
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

    @Test func `takes NaN as it is`() {
        var garden = Garden.summer
        garden.warmth = .nan
        verifyState(garden, Garden.summer)
    }

    @Test func `says that nothing can be varied`() async {
        await expectIssues("Expected a state in which something can change; the type accepts no change of {}.") {
            verifyState(Nothing())
        }
        verifyState(Season.spring, .summer)
    }

    @Test func `refuses a class instance`() async {
        await expectIssues(
            "Expected values all through the state: beds.0.gnome: Gnome is a class: its changes cannot be seen; make it a struct"
        ) { verifyState(Yard(beds: [Yard.Bed(gnome: Gnome())])) }
    }

    @Test func `refuses a class that no instance is there of`() async {
        await expectIssues("Expected values all through the state: beds.gnome: Gnome is a class") {
            verifyState(Yard(beds: []))
        }
    }

    @Test func `names what has no encoding`() async {
        await expectIssues("Expected the state to have an encoding, which is what other processes get: depth: no text")
        {
            verifyState(Unwritable())
        }
    }

    @Test func `names what cannot be decoded again`() async {
        await expectIssues(
            "Expected the state to be decoded from its own encoding, got the error: inner: missing the key \"b\""
        ) {
            verifyState(Outer(inner: Renamed(a: 1)))
        }
    }

    @Test func `names what does not come back`() async {
        await expectIssues(
            """
            Expected the state to come back from its encoding; at `inner.a` it was encoded as the integer 1, and after \
            decoding as the integer 0. Let init(from:) read what encode(to:) writes.
            """
        ) { verifyState(Outer(inner: Forgetful(a: 1))) }
    }

    @Test func `names an order that changes`() async {
        await expectIssues("at `tags` the state is encoded differently each time, once as [") {
            verifyState(Outer(inner: 1, tags: Direct(content: Set(["a"]))))
        }
        await expectIssues("at `tags` the state is encoded differently each time, once as [") {
            verifyState(Outer(inner: 1, tags: Direct(content: [Place(row: 1, column: 2): 3])))
        }
        verifyState(Outer(inner: 1, tags: Set(["a", "b"])))
    }

    @Test func `names what encodes something else at each time`() async {
        await expectIssues("at `inner` the state is encoded differently each time") {
            verifyState(Outer(inner: Restless()))
        }
    }

    @Test func `names what is not encoded`() async {
        await expectIssues("the state and what was decoded from its encoding are encoded alike. What is not encoded") {
            verifyState(Outer(inner: Partial(a: 1, hidden: 2)))
        }
        await expectIssues(
            "Expected states that are not == to be encoded differently; state 1 and state 2 are encoded alike."
        ) {
            verifyState(Wildcard(a: 1, hidden: 1), Wildcard(a: 1, hidden: 2))
        }
    }

    @Test func `names an equality that overlooks a difference`() async {
        await expectIssues(
            """
            Expected states that are encoded differently not to be ==; the state and the state with another `inner.b` are, \
            though at `inner.b` one is encoded as the integer 2 and the other as the integer 3.
            """
        ) { verifyState(Outer(inner: Careless(a: 1, b: 2))) }
        await expectIssues(
            "state 1 and state 2 are, though at `inner.b` one is encoded as the integer 2 and the other as the integer 9"
        ) {
            verifyState(Outer(inner: Careless(a: 1, b: 2)), Outer(inner: Careless(a: 1, b: 9)))
        }
    }

    @Test func `reports a problem once, with the places where it shows`() async {
        let many = (0..<9).map { Careless(a: $0, b: $0) }
        await expectIssues("`inner.4.b`, `inner.5.b` and 3 more.") { verifyState(Outer(inner: many)) }
    }

    @Test func `names an equality that differs with itself`() async {
        await expectIssues("Expected the state to be == to itself, and there is no NaN in it.") {
            verifyState(Outer(inner: Never(a: 1)))
        }
    }

    @Test func `names a part that patches pass over`() async {
        await expectIssues(
            """
            Expected the patch from the state to the state with another `part.b` to lead there; at `part.b` its tree has the \
            integer 2 instead of the integer 3.
            """
        ) { verifyState(Strict(part: Careless(a: 1, b: 2))) }
    }

    @Test func `reports different problems one by one`() async {
        await expectIssues("state 1 and what was decoded", "state 2 and state 2 with another `inner.b` are") {
            verifyState(
                Outer(inner: Careless(a: 1, b: 2), tags: Partial(a: 1, hidden: 1)),
                Outer(inner: Careless(a: 1, b: 2), tags: Partial(a: 1, hidden: 0))
            )
        }
    }
}
