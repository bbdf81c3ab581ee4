import FleetApp
import StatecastCoding
import StatecastCore

extension Sample {
    /// The example with another load, uptime and processor time.
    static func loaded(_ load1: Double, uptimeSeconds: Double = 1_000, cpuSeconds: Double = 100) -> Sample {
        var sample = Sample.example
        sample.load1 = load1
        sample.uptimeSeconds = uptimeSeconds
        sample.cpuSeconds = cpuSeconds
        return sample
    }
}

extension Fleet {
    /// Reduces an action received at this number of seconds.
    mutating func reduce(_ action: any Action, second: Int64 = 0) {
        let context = ActionContext(time: .second(second))
        _ = Fleet.reducer.reduce(into: &self, action, context: context)
    }
}

extension Timestamp {
    static func second(_ second: Int64) -> Timestamp {
        Timestamp(milliseconds: second * 1_000)
    }
}

/// Computes the totals that the fleet updates with each action.
func recount(_ fleet: Fleet) -> (hosts: Int, retired: Int) {
    (fleet.hosts.count, fleet.hosts.values.count { $0.isRetired })
}
