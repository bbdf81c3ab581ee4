import ArgumentParser

/// One round of one workload in each run; `scripts/bench` runs all of them by turns, and compares the medians.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-bench",
        abstract: "Measures one round of one workload, and prints the figures as a line of JSON.",
        discussion: """
            Journals are in a new folder of the directory that TMPDIR names. Rates are per second, latencies in \
            microseconds, CPU times in nanoseconds per action by role.
            """,
        subcommands: [
            StreamWorkload.self, SingleWorkload.self, FanOutWorkload.self, FieldWorkload.self, JoinWorkload.self,
            SendersWorkload.self, StoresWorkload.self, SoakWorkload.self, RowMemoryWorkload.self,
            RawStreamWorkload.self, RawSingleWorkload.self, RawFanOutWorkload.self, RawDatabaseWorkload.self,
            CommitWorkload.self, SendingProcess.self, CountingProcess.self, FollowingProcess.self, ManyReplicas.self,
        ]
    )
}
