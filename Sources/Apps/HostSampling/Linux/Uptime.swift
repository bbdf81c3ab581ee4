#if os(Linux)
    /// `/proc/uptime`: `12345.67 45678.90`, the seconds since the start and the idle ones among them.
    func uptimeSeconds(under root: String) throws(HostSamplingFailure) -> Double {
        let file = try KernelFile("proc/uptime", under: root)
        return try file.number(file.firstWords.first, in: file.firstLine, "the seconds since the start")
    }
#endif
