#if os(Linux)
    /// `/proc/meminfo`: lines such as `MemTotal:       16303428 kB`.
    struct Memory {
        let totalBytes: Int
        let availableBytes: Int

        init(under root: String) throws(HostSamplingFailure) {
            let file = try KernelFile("proc/meminfo", under: root)
            totalBytes = try Self.bytes(of: "MemTotal:", in: file)
            // A container's view may say that more is available than there is.
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
#endif
