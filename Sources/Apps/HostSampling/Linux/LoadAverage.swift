#if os(Linux)
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
#endif
