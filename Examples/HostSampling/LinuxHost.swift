#if os(Linux)
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// A text file of the kernel. proc(5).
    struct KernelFile {
        let path: String
        let lines: [Substring]

        init(_ relativePath: String, under root: String) throws(HostSamplingFailure) {
            path = root.hasSuffix("/") ? root + relativePath : root + "/" + relativePath
            do {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                lines = text.split(separator: "\n")
            } catch {
                throw HostSamplingFailure(code: .unreadable, source: path, message: "\(error)")
            }
        }

        var firstLine: Substring { lines.first ?? "" }

        /// The words of the first line.
        var firstWords: [Substring] { firstLine.split(separator: " ") }

        /// Parses a word of a line as a number that is finite and not negative.
        func number(_ word: Substring?, in line: Substring, _ meaning: String) throws(HostSamplingFailure) -> Double {
            guard let word, let number = Double(word), number.isFinite, number >= 0 else {
                throw unparsable("expected \(meaning)", in: line)
            }
            return number
        }

        func unparsable(_ expected: String, in line: Substring) -> HostSamplingFailure {
            HostSamplingFailure(code: .unparsable, source: path, message: "\(expected), found \"\(line.prefix(120))\"")
        }
    }

    /// `/proc/loadavg`: `0.42 0.36 0.30 1/123 4567`.
    struct LoadAverage {
        let minutes1, minutes5, minutes15: Double

        init(under root: String) throws(HostSamplingFailure) {
            let file = try KernelFile("proc/loadavg", under: root)
            let words = file.firstWords
            guard words.count >= 3 else { throw file.unparsable("expected three loads", in: file.firstLine) }
            minutes1 = try file.number(words[0], in: file.firstLine, "the load over one minute")
            minutes5 = try file.number(words[1], in: file.firstLine, "the load over five minutes")
            minutes15 = try file.number(words[2], in: file.firstLine, "the load over fifteen minutes")
        }
    }

    /// `/proc/meminfo`: lines such as `MemTotal:       16303428 kB`.
    struct Memory {
        let totalBytes: Int
        let availableBytes: Int

        init(under root: String) throws(HostSamplingFailure) {
            let file = try KernelFile("proc/meminfo", under: root)
            totalBytes = try Self.bytes(of: "MemTotal:", in: file)
            // In a container the kernel may report more available than total memory.
            availableBytes = min(totalBytes, try Self.bytes(of: "MemAvailable:", in: file))
        }

        private static func bytes(of name: String, in file: KernelFile) throws(HostSamplingFailure) -> Int {
            guard let line = file.lines.first(where: { $0.hasPrefix(name) }) else {
                throw file.unparsable("expected a line \(name)", in: file.firstLine)
            }
            let words = line.split(separator: " ")
            guard words.count == 3, words[2] == "kB", let kibibytes = Int(words[1]), kibibytes >= 0,
                case (let bytes, false) = kibibytes.multipliedReportingOverflow(by: 1_024)
            else {
                throw file.unparsable("expected a size in kB", in: line)
            }
            return bytes
        }
    }

    /// `/proc/stat`: a line `cpu` with the ticks of all processors, and a line `cpu0`, `cpu1`, ... for each.
    struct Processors {
        let count: Int
        let busySeconds: Double

        init(under root: String) throws(HostSamplingFailure) {
            let file = try KernelFile("proc/stat", under: root)
            guard let line = file.lines.first(where: { $0.hasPrefix("cpu ") }) else {
                throw file.unparsable("expected a line for all processors, \"cpu ...\"", in: file.firstLine)
            }
            let words = line.split(separator: " ").dropFirst()
            guard words.count >= 4 else { throw file.unparsable("expected the ticks of four states or more", in: line) }
            var busyTicks = 0.0
            for (state, word) in words.enumerated() where Self.busyStates.contains(state) {
                busyTicks += try file.number(word, in: line, "numbers of ticks")
            }
            count = file.lines.count { $0.hasPrefix("cpu") && $0.dropFirst(3).first?.isNumber == true }
            guard count > 0 else { throw file.unparsable("expected a line for each processor, \"cpu0 ...\"", in: line) }
            busySeconds = busyTicks / Self.ticksPerSecond
        }

        /// user, nice, system, irq, softirq, steal: all but idle (3) and iowait (4). Guests are within user and nice.
        private static let busyStates: Set<Int> = [0, 1, 2, 5, 6, 7]

        /// USER_HZ: the kernel reports hundredths of a second. time(7).
        private static let ticksPerSecond = 100.0
    }

    /// `/proc/uptime`: `12345.67 45678.90`, the seconds since the start and the idle ones among them.
    func uptimeSeconds(under root: String) throws(HostSamplingFailure) -> Double {
        let file = try KernelFile("proc/uptime", under: root)
        return try file.number(file.firstWords.first, in: file.firstLine, "the seconds since the start")
    }
#endif
