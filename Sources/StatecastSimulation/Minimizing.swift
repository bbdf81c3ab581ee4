extension SimulationReport {
    /// Finds a run of the same seed that breaks the same rule with fewer faults.
    ///
    /// - Parameter maxRuns: how many runs are tried.
    /// - Returns: the options of the run, and its report with the trace.
    package func minimized(_ options: SimulationOptions, maxRuns: Int) -> (SimulationOptions, SimulationReport) {
        guard let rule = violation?.rule else { return (options, self) }
        var best = options
        best.minEvents = eventsOfFaults
        var kept = Array(1..<faultsDrawn + 1).filter { !best.skippedFaults.contains($0) }
        var runs = 0

        /// Whether the rule is broken without some faults, too.
        func fails(without faults: some Sequence<Int>) -> Bool {
            runs += 1
            var options = best
            options.skippedFaults.formUnion(faults)
            guard SimulationRun(seed: seed, options).run().violation?.rule == rule else { return false }
            best = options
            return true
        }

        var size = (kept.count + 1) / 2
        while size > 0, runs < maxRuns {
            var start = 0
            while start < kept.count, runs < maxRuns {
                let end = min(kept.count, start + size)
                if fails(without: kept[start..<end]) { kept.removeSubrange(start..<end) } else { start = end }
            }
            size = size == 1 ? 0 : (size + 1) / 2
        }
        best.keepsTrace = true
        return (best, SimulationRun(seed: seed, best).run())
    }
}
