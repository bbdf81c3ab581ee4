import StatecastProtocol

extension OutcomeRuns {
    /// The outcomes of consecutive numbers.
    init(_ list: [Outcome], from first: UInt64 = 1) {
        self.init(first: ActionNumber(first))
        for outcome in list { append(outcome) }
    }

    /// The outcomes one by one.
    var list: [Outcome] {
        runs.flatMap { run in (0..<run.count).map { run.outcome(of: run.first.advanced(by: $0)) } }
    }

    /// The outcomes before a number, and those from it on.
    func split(at number: ActionNumber) -> (before: OutcomeRuns, after: OutcomeRuns) {
        var (before, after) = (self, self)
        before.removeOutcomes(from: number)
        after.removeOutcomes(before: number)
        return (before, after)
    }
}
