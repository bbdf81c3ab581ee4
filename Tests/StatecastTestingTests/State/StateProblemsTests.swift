import Testing

@testable import StatecastTesting

@Suite struct `The problems of a state` {
    @Test func `are told once for each place`() {
        var problems = StateProblems()
        for path in [["a"], ["a"], ["b"], ["b"]] { problems.add(.lossy, at: path, "Lost \(path[0]).") }
        problems.add(.unpatchable, at: [], "Passed over.")
        #expect(problems.issues == ["Lost a.\n\nLikewise at: `b`.", "Passed over."])
    }

    @Test func `of patches are left out where equality is the cause`() {
        var problems = StateProblems()
        problems.add(.unpatchable, at: ["a"], "Passed over a.")
        problems.add(.overlooked, at: ["a"], "Overlooked a.")
        problems.add(.unpatchable, at: ["b"], "Passed over b.")
        #expect(problems.issues == ["Overlooked a.", "Passed over b."])
    }
}
