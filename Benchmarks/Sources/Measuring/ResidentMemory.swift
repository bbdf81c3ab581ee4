import Foundation

/// How much of this process lies in memory now.
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

    /// The most that ever was.
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

    /// Starts the peak anew from what is resident now, where the system can do that: what was needed before is not taken
    /// for what is needed next.
    package static func forgetPeak() {
        #if os(Linux)
            // proc(5)
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        #endif
    }
}
