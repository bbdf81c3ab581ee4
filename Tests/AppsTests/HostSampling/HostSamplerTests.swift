#if os(Linux)
    import FleetApp
    import Foundation
    import HostSampling
    import Testing

    @Suite struct `The host sampler` {
        @Test func `The host sampler reads recorded files`() throws {
            try withRecorded(.healthy) { sampler, _ in
                let sample = try sampler.sample()
                #expect([sample.load1, sample.load5, sample.load15] == [0.42, 1.5, 12])
                #expect(sample.cpuCount == 2)
                #expect(sample.memoryTotalBytes == 16_303_428 * 1_024)
                #expect(sample.memoryAvailableBytes == 9_000_000 * 1_024)
                #expect(sample.uptimeSeconds == 12_345.67)
                // user, nice, system, irq, softirq and steal; neither idle nor iowait, and guests once.
                #expect(sample.cpuSeconds == 14.67)
                #expect(sample.diskTotalBytes > 0)
                #expect(sample.isPlausible)
                #expect(sampler.hostName == "web-1")
            }
        }

        @Test func `The host sampler reads this host`() throws {
            let sampler = HostSampler()
            let sample = try sampler.sample()
            #expect(sample.isPlausible)
            #expect(sample.memoryTotalBytes > 0)
            #expect(!sampler.hostName.isEmpty)
        }

        static let spoilt: [(file: String, content: String, named: String)] = [
            ("loadavg", "0.42 1.50\n", "0.42 1.50"),
            ("uptime", "nan 1\n", "nan 1"),
            ("meminfo", "MemTotal: 16 kB\nMemAvailable: 9223372036854775807 kB\n", "9223372036854775807"),
            ("stat", "cpu  1 2 3\ncpu0 1 2 3\n", "cpu  1 2 3"),
        ]

        @Test(arguments: spoilt.indices)
        func `The host sampler names the file and its unexpected content`(index: Int) throws {
            let (file, content, named) = Self.spoilt[index]
            var recorded = Recorded.healthy
            recorded.files["proc/\(file)"] = content
            try withRecorded(recorded) { sampler, root in
                let failure = try #require(throws: HostSamplingFailure.self) { try sampler.sample() }
                #expect(failure.code == .unparsable)
                #expect(failure.source == root + "/proc/\(file)")
                #expect(failure.description.contains(named))
            }
        }
    }

    /// Recorded files of a kernel, by path.
    private struct Recorded {
        var files: [String: String]

        static let healthy = Recorded(files: [
            "proc/loadavg": "0.42 1.50 12.00 3/512 4711\n",
            "proc/uptime": "12345.67 20000.01\n",
            "proc/meminfo": """
            MemTotal:       16303428 kB
            MemFree:         1000000 kB
            MemAvailable:    9000000 kB
            Buffers:          200000 kB
            HugePages_Total:       0

            """,
            "proc/stat": """
            cpu  1000 20 400 90000 500 6 7 34 900 10
            cpu0 500 10 200 45000 250 3 3 17 450 5
            cpu1 500 10 200 45000 250 3 4 17 450 5
            intr 12345 1 2 3
            cpufreq 7

            """,
            "proc/sys/kernel/hostname": "web-1\n",
        ])
    }

    /// Runs `body` with a sampler over a temporary folder with these files, and that folder.
    private func withRecorded(_ recorded: Recorded, _ body: (HostSampler, String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "host-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, content) in recorded.files {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try content.write(to: file, atomically: false, encoding: .utf8)
        }
        try body(HostSampler(root: root.path), root.path)
    }
#endif
