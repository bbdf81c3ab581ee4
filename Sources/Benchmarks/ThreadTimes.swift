import Foundation

/// The processor time of this process by thread name, in nanoseconds. Empty where the system does not tell it.
struct ThreadTimes {
    private var nanoseconds: [String: Double] = [:]

    /// The time since the start of each thread that exists now.
    static var now: ThreadTimes {
        var times = ThreadTimes()
        let tasks = "/proc/self/task"
        for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
            guard let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8),
                let status = try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8),
                let running = status.split(separator: " ").first.flatMap({ Double($0) })
            else { continue }
            times.nanoseconds[role(name.trimmingCharacters(in: .newlines)), default: 0] += running
        }
        return times
    }

    /// All nodes run in this process, so that libzmq's threads serve all of them.
    private static func role(_ thread: String) -> String {
        if thread.hasPrefix("ZMQbg") { return "libzmq" }
        // The kernel keeps 15 bytes of a name.
        for role in ["primary", "sender", "replica"] where thread.hasPrefix("statecast-\(role)".prefix(15)) {
            return role
        }
        return "tasks and journal"
    }

    static func - (later: ThreadTimes, earlier: ThreadTimes) -> ThreadTimes {
        var difference = later
        for (role, time) in earlier.nanoseconds { difference.nanoseconds[role, default: 0] -= time }
        return difference
    }

    /// The time of each role for one of `count` actions.
    func perAction(_ count: Int) -> [String: Double] {
        nanoseconds.mapValues { ($0 / Double(count)).rounded() }.filter { $0.value > 0 }
    }
}
