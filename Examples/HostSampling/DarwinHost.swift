#if canImport(Darwin)
    import Darwin
    import Foundation

    /// getloadavg(3).
    struct LoadAverage {
        let minutes1, minutes5, minutes15: Double

        init(under root: String) throws(HostSamplingFailure) {
            var loads = [0.0, 0.0, 0.0]
            guard getloadavg(&loads, 3) == 3 else {
                throw HostSamplingFailure(code: .unreadable, source: "getloadavg", message: "no load averages")
            }
            (minutes1, minutes5, minutes15) = (loads[0], loads[1], loads[2])
        }
    }

    /// Pages that are free or hold files that can be read again, after sysctl(3).
    struct Memory {
        let totalBytes: Int
        let availableBytes: Int

        init(under root: String) throws(HostSamplingFailure) {
            totalBytes = Int(clamping: ProcessInfo.processInfo.physicalMemory)
            let pages = try Self.pages("vm.page_free_count") + Self.pages("vm.page_pageable_external_count")
            availableBytes = min(totalBytes, pages * Int(getpagesize()))
        }

        private static func pages(_ name: String) throws(HostSamplingFailure) -> Int {
            var count: UInt32 = 0
            var size = MemoryLayout<UInt32>.size
            guard sysctlbyname(name, &count, &size, nil, 0) == 0 else {
                let cause = String(cString: strerror(errno))
                throw HostSamplingFailure(code: .unreadable, source: "sysctl \(name)", message: cause)
            }
            return Int(count)
        }
    }

    /// The kernel's processor ticks, `HOST_CPU_LOAD_INFO`.
    struct Processors {
        let count: Int
        let busySeconds: Double

        init(under root: String) throws(HostSamplingFailure) {
            var information = host_cpu_load_info()
            let words = MemoryLayout<host_cpu_load_info>.stride / MemoryLayout<integer_t>.stride
            var size = mach_msg_type_number_t(words)
            let result = withUnsafeMutablePointer(to: &information) { pointer in
                pointer.withMemoryRebound(to: integer_t.self, capacity: words) { integers in
                    host_statistics(mach_host_self(), HOST_CPU_LOAD_INFO, integers, &size)
                }
            }
            guard result == KERN_SUCCESS else {
                throw HostSamplingFailure(code: .unreadable, source: "host_statistics", message: "error \(result)")
            }
            let (user, system, _, nice) = information.cpu_ticks
            count = ProcessInfo.processInfo.activeProcessorCount
            busySeconds = (Double(user) + Double(system) + Double(nice)) / Double(sysconf(_SC_CLK_TCK))
        }
    }

    /// Seconds since the start.
    func uptimeSeconds(under root: String) throws(HostSamplingFailure) -> Double {
        ProcessInfo.processInfo.systemUptime
    }
#endif
