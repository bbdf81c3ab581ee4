import Foundation

extension Child {
    var usage: ProcessUsage {
        get throws {
            guard let usage = ProcessUsage(of: identifier) else { throw failure }
            return usage
        }
    }
}

/// The memory and the processor time of a process, by `/proc`.
struct ProcessUsage {
    let residentBytes: Int
    let processorSeconds: Double

    /// `nil` if the process has ended.
    init?(of process: Int32) {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let resident = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = resident.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Int($0) }
            ),
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = stat.lastIndex(of: ")")
        else {
            return nil
        }
        residentBytes = kilobytes << 10
        // Fields 14 and 15 of proc(5); the one after the name is the third.
        let ticks = stat[name...].split(separator: " ").dropFirst(12).prefix(2).compactMap { Double($0) }
        processorSeconds = ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
