import Foundation

/// The cost of one action in nanoseconds: wall time, and processor time, which includes work beside the caller.
package struct Cost {
    package let wall: Double
    package let processor: Double

    /// Runs `body` once, and divides its cost by `actions`.
    package static func each(of actions: Int, _ body: () -> Void) -> Cost {
        var watch = Stopwatch()
        watch.measure(body)
        return watch.cost(each: actions)
    }
}

/// Adds up the costs of the measured parts of a loop. Reading the clocks adds about 0.3 µs to each part.
package struct Stopwatch {
    private var wall = 0
    private var processor = 0
    private var parts = 0

    package init() {}

    /// Runs `body` and adds its cost.
    package mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let processorBefore = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
        let wallBefore = nanoseconds(CLOCK_MONOTONIC)
        let result = try body()
        wall += nanoseconds(CLOCK_MONOTONIC) - wallBefore
        processor += nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processorBefore
        parts += 1
        return result
    }

    /// The mean cost of a part.
    package var cost: Cost { cost(each: parts) }

    fileprivate func cost(each count: Int) -> Cost {
        Cost(wall: Double(wall) / Double(count), processor: Double(processor) / Double(count))
    }

    private func nanoseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// The resident memory of this process.
package enum ResidentMemory {
    #if canImport(Darwin)
        package static var kibibytes: Int {
            var info = mach_task_basic_info()
            var size = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
            let result = withUnsafeMutablePointer(to: &info) { info in
                info.withMemoryRebound(to: integer_t.self, capacity: Int(size)) {
                    task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &size)
                }
            }
            precondition(result == KERN_SUCCESS, "task_info answered \(result)")
            return Int(info.resident_size) / 1_024
        }
    #else
        package static var kibibytes: Int {
            // Total and resident size, in pages: proc(5).
            guard let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
                let pages = statm.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
            else { preconditionFailure("/proc/self/statm does not say how much memory is resident") }
            return pages * sysconf(Int32(_SC_PAGESIZE)) / 1_024
        }
    #endif

    /// The peak.
    package static var peakKibibytes: Int {
        var usage = rusage()
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss / 1_024
        #else
            getrusage(RUSAGE_SELF.rawValue, &usage)
            return usage.ru_maxrss
        #endif
    }

    /// Resets the peak to the current size, on Linux.
    package static func forgetPeak() {
        #if os(Linux)
            // proc(5)
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        #endif
    }
}
