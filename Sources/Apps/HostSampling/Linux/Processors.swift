#if os(Linux)
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

        /// USER_HZ: what the kernel shows to programs is in hundredths, whatever it counts in. time(7).
        private static let ticksPerSecond = 100.0
    }
#endif
