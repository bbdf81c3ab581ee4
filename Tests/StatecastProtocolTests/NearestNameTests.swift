import Testing

@testable import StatecastProtocol

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("StepChangeReqested", "StepChangeRequested"), ("stepchangerequested", "StepChangeRequested"),
        ("verfiy", "verify"), ("stpe", "step"), ("Step", "step"), ("counetr", "counter"), ("", nil), ("x", nil),
        ("Nonsense", nil), ("restoer", "restore"),
    ]) func `a name that is misspelt is near to one`(name: String, near: String?) {
        let names = [
            "StepChangeRequested", "CounterIncreaseRequested", "verify", "step", "counter", "restore", "backup",
        ]
        #expect(name.nearest(among: names) == near)
    }

    @Test func `the nearest of two equally near names is the first by name`() {
        #expect("bat".nearest(among: ["cat", "bet"]) == "bet")
    }

    /// Comparing two characters normalizes them, which costs more than their size if they have many marks.
    @Test func `names are compared by their scalars, also within one character`() {
        let (name, other) = (
            "x" + String(repeating: "\u{301}", count: 60), "y" + String(repeating: "\u{316}", count: 60)
        )
        #expect(name.count == 1 && other.count == 1)
        #expect(name.nearest(among: [other]) == nil)
        #expect(name.nearest(among: [name + "\u{316}"]) == name + "\u{316}")
    }

    @Test func `no name is near without candidates, and long names are compared in bounded time`() {
        #expect("a".nearest(among: []) == nil)
        let long = String(repeating: "x", count: 100_000)
        #expect(long.nearest(among: [long]) == long)
        #expect("x".nearest(among: [long]) == nil)
        #expect(long.nearest(among: ["x"]) == nil)
    }
}
