import CoreMetrics
import Foundation
import Statecast
import Testing

@testable import StatecastMonitoring

@Suite struct PrometheusMetricsTests {
    private let metrics = PrometheusMetrics()

    /// The lines of one metric.
    private func lines(_ name: String) -> [String] {
        metrics.text.split(separator: "\n").map(String.init).filter { line in
            let words = line.split(separator: " ")
            return line.hasPrefix("#") ? words[2] == name : line.hasPrefix(name)
        }
    }

    @Test func `Counters of equal labels are one series, whatever the order of the labels`() {
        metrics.makeCounter(label: "jobs_total", dimensions: [("a", "1"), ("b", "2")]).increment(by: 2)
        metrics.makeCounter(label: "jobs_total", dimensions: [("b", "2"), ("a", "1")]).increment(by: 3)
        metrics.makeCounter(label: "jobs_total", dimensions: []).increment(by: 1)
        metrics.makeCounter(label: "jobs_total", dimensions: []).increment(by: -5)
        #expect(
            lines("jobs_total") == [
                "# HELP jobs_total Reported by the program as jobs_total.", "# TYPE jobs_total counter",
                "jobs_total 1", #"jobs_total{a="1",b="2"} 5"#,
            ]
        )
    }

    @Test func `Gauges show the last value, and recorders and timers are histograms with buckets by name`() throws {
        let gauge = metrics.makeRecorder(label: "queue", dimensions: [], aggregate: false)
        gauge.record(Int64(7))
        gauge.record(2.5)
        let meter = metrics.makeMeter(label: "level", dimensions: [])
        meter.increment(by: 3)
        meter.decrement(by: 1)
        #expect(lines("queue").last == "queue 2.5")
        #expect(lines("level").last == "level 2")

        let bytes = metrics.makeRecorder(label: "message_bytes", dimensions: [("store", "a")], aggregate: true)
        for value in [0, 64, 65, 4_194_304, 4_194_305] as [Int64] { bytes.record(value) }
        let written = lines("message_bytes")
        #expect(written.count == 2 + 9 + 1 + 2)
        #expect(written[2] == #"message_bytes_bucket{store="a",le="64"} 2"#)
        #expect(written[3] == #"message_bytes_bucket{store="a",le="256"} 3"#)
        #expect(written[10] == #"message_bytes_bucket{store="a",le="4194304"} 4"#)
        #expect(written[11] == #"message_bytes_bucket{store="a",le="+Inf"} 5"#)
        #expect(written[12...] == [#"message_bytes_sum{store="a"} 8388738"#, #"message_bytes_count{store="a"} 5"#])

        metrics.makeTimer(label: "work", dimensions: []).recordNanoseconds(25_000)
        let times = lines("work_seconds")
        #expect(times.count == 2 + 19 + 1 + 2)
        #expect(times.contains(#"work_seconds_bucket{le="1e-05"} 0"#))
        #expect(times.contains(#"work_seconds_bucket{le="2.5e-05"} 1"#))
        #expect(times.contains(#"work_seconds_bucket{le="10"} 1"#))

        metrics.makeRecorder(label: "batch", dimensions: [], aggregate: true).record(Int64(17))
        #expect(lines("batch").contains(#"batch_bucket{le="16"} 0"#))
        #expect(lines("batch").contains(#"batch_bucket{le="64"} 1"#))
        #expect(lines("batch").contains(#"batch_bucket{le="1048576"} 1"#))
    }

    @Test func `Odd names, labels and values give a valid text`() {
        let value = "a\\b\"c\nd\u{0}é"
        metrics.makeCounter(label: "9 jobs.done/ü", dimensions: [("le", value), ("__x", ""), ("", "e")]).increment(
            by: 1
        )
        let escaped = #"a\\b\"c\nd"# + "\u{0}é"
        #expect(
            lines("_9_jobs_done___total").last
                == "_9_jobs_done___total{_=\"e\",label___x=\"\",label_le=\"\(escaped)\"} 1"
        )
        metrics.makeCounter(label: "", dimensions: []).increment(by: .max)
        metrics.makeCounter(label: "", dimensions: []).increment(by: .max)
        let odd = metrics.makeRecorder(label: "odd", dimensions: [], aggregate: true)
        for value in [Double.nan, .infinity, -.infinity, -1, .greatestFiniteMagnitude] { odd.record(value) }
        #expect(lines("odd").last == "odd_count 2")
        for (value, text) in [(Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (1e300, "1e+300")] {
            metrics.makeMeter(label: "gauge", dimensions: []).set(value)
            #expect(lines("gauge").last == "gauge \(text)")
        }
    }

    @Test func `Of two types under one name the first one is held`() {
        metrics.makeMeter(label: "x_total", dimensions: []).set(1.0)
        metrics.makeCounter(label: "x", dimensions: []).increment(by: 5)
        #expect(lines("x_total").dropFirst() == ["# TYPE x_total gauge", "x_total 1"])
    }

    @Test func `Label values are bounded, and what is dropped is counted`() {
        for number in 0..<1010 {
            metrics.makeCounter(label: "wide_total", dimensions: [("id", "\(number)")]).increment(by: 1)
        }
        #expect(lines("wide_total").count == 2 + PrometheusMetrics.maxSeries)
        #expect(lines("statecast_debug_series_dropped_total").last == "statecast_debug_series_dropped_total 10")
    }

    @Test func `The process and the build are shown`() throws {
        func value(_ name: String) throws -> Double {
            try #require(Double(lines(name).last?.split(separator: " ").last ?? ""))
        }
        #expect(try abs(value("process_start_time_seconds") - Date.now.timeIntervalSince1970) < 600)
        #expect(try value("process_cpu_seconds_total") > 0)
        #expect(try value("process_resident_memory_bytes") > 1_000_000)
        #expect(try (3...value("process_max_fds")).contains(value("process_open_fds")))
        #expect(lines("statecast_build_info").last == #"statecast_build_info{protocol="2",version="0.2.0-beta"} 1"#)
    }

    @Test func `Metrics of the library have their own help`() {
        metrics.makeCounter(label: NodeMetric.primaryBatches.label, dimensions: []).increment(by: 1)
        #expect(
            lines("statecast_primary_batches_total") == [
                "# HELP statecast_primary_batches_total Published batches.",
                "# TYPE statecast_primary_batches_total counter",
                "statecast_primary_batches_total 1",
            ]
        )
    }

    @Test func `A file of metrics is replaced in one step, and readable for all`() throws {
        let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "statecast.prom").path
        let file = MetricsFile(path, metrics: metrics)
        let counter = metrics.makeCounter(label: "written_total", dimensions: [])
        for count in 1...2 {
            counter.increment(by: 1)
            try file.writeOnce()
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\nwritten_total \(count)\n"))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o644)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["statecast.prom"])
        #expect(throws: (any Error).self) {
            try MetricsFile(folder.path + "/none/x.prom", metrics: metrics).writeOnce()
        }
    }

    /// Values that threads report while others read are all counted.
    @Test func `Threads report at once`() async {
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { [metrics] in
                    for number in 0..<5000 {
                        metrics.makeCounter(label: "shared_total", dimensions: []).increment(by: 1)
                        metrics.makeRecorder(label: "shared", dimensions: [], aggregate: true).record(Int64(number))
                        metrics.makeMeter(label: "sum", dimensions: []).increment(by: 1)
                        if number % 1000 == 0 { _ = metrics.text }
                    }
                }
            }
        }
        #expect(lines("shared_total").contains("shared_total 20000"))
        #expect(lines("shared").contains("shared_count 20000"))
        #expect(lines("sum").last == "sum 20000")
    }
}
