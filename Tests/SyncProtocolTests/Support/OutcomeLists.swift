import SyncProtocol

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
}
