public import CoreMetrics
import Statecast
import StatecastThreading

/// A backend of swift-metrics that holds the values in memory, for Prometheus to read.
///
/// ```swift
/// let metrics = PrometheusMetrics()
/// MetricsSystem.bootstrap(metrics)
/// ```
///
/// It holds all metrics of the process, not those of Statecast only. Names become valid names of Prometheus: other
/// characters than letters, digits, `_` and `:` become `_`; the name of a counter ends with `_total`, that of a timer
/// with `_seconds`. Recorders and timers are histograms, whose buckets follow from the end of the name:
///
/// | name | upper bounds |
/// |---|---|
/// | `..._bytes` | 64, 256, 1024, ... to 4194304 |
/// | `..._seconds` | 0.00001, 0.000025, 0.00005, 0.0001, ... to 10 |
/// | another | 1, 4, 16, ... to 1048576 |
///
/// A metric has at most 1,000 combinations of label values: further ones are not held, and are counted in
/// `statecast_debug_series_dropped_total`. Of two metrics whose names become equal, but whose types differ, the first
/// one is held. A metric stays when its handle is destroyed.
public final class PrometheusMetrics: MetricsFactory, Sendable {
    private let families = Locked<[String: MetricFamily]>([:])
    private let process = ProcessMetrics()

    static let maxSeries = 1000

    /// Creates a backend without metrics.
    public init() {}

    /// All metrics, and those of the process, in the text format of Prometheus, version 0.0.4.
    public var text: String {
        process.record(in: self)
        return text { _ in true }
    }

    /// Without those of the process: the exporter that collects files has its own of these names.
    var textForFile: String { text { ProcessMetrics.help[$0] == nil } }

    private func text(of isIncluded: (String) -> Bool) -> String {
        let families = families.withLock { $0.filter { isIncluded($0.key) }.sorted { $0.key < $1.key } }
        var text = ""
        for (name, family) in families { family.write(to: &text, as: name) }
        return text
    }

    // MARK: MetricsFactory

    /// A counter; a negative amount is ignored.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(.counter, label, dimensions, CounterSeries.init) ?? CounterSeries()
    }

    /// A histogram, or a gauge if the values are not aggregated.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate { return histogram(label, dimensions) }
        return series(.gauge, label, dimensions, GaugeSeries.init) ?? GaugeSeries()
    }

    /// A gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(.gauge, label, dimensions, GaugeSeries.init) ?? GaugeSeries()
    }

    /// A histogram of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label.hasSuffix("_seconds") ? label : label + "_seconds", dimensions)
    }

    /// Counts in fractions, which a counter of swift-metrics cannot.
    func setTotal(_ label: String, to value: Double) { series(.counter, label, [], GaugeSeries.init)?.set(value) }

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        let bounds = HistogramSeries.bounds(for: label)
        return series(.histogram, label, dimensions) { HistogramSeries(bounds) } ?? HistogramSeries(bounds)
    }

    /// The metric stays.
    public func destroyCounter(_: any CounterHandler) {}
    /// The metric stays.
    public func destroyRecorder(_: any RecorderHandler) {}
    /// The metric stays.
    public func destroyMeter(_: any MeterHandler) {}
    /// The metric stays.
    public func destroyTimer(_: any TimerHandler) {}

    /// The series of some label values; `nil` if it is not held.
    private func series<Series: MetricSeries>(
        _ kind: MetricKind,
        _ label: String,
        _ dimensions: [(String, String)],
        _ make: () -> Series
    ) -> Series? {
        let name = MetricName.valid(label, of: kind)
        let labels = MetricName.labels(dimensions)
        let held = families.withLock { families -> (series: Series?, isFull: Bool) in
            let family = families[name] ?? MetricFamily(kind: kind, help: MetricName.help(of: label))
            if let series = family.series[labels] { return (series as? Series, false) }
            guard family.kind == kind else { return (nil, false) }
            guard family.series.count < Self.maxSeries else { return (nil, true) }
            let series = make()
            families[name, default: family].series[labels] = series
            return (series, false)
        }
        if held.isFull { makeCounter(label: "statecast_debug_series_dropped_total", dimensions: []).increment(by: 1) }
        return held.series
    }
}

enum MetricKind: String {
    case counter, gauge, histogram
}

/// All series of one name.
struct MetricFamily {
    let kind: MetricKind
    let help: String
    /// By their labels, as they are written.
    var series: [String: any MetricSeries] = [:]

    func write(to text: inout String, as name: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
            for sample in series.samples {
                let all = [labels, sample.bound.map { "le=\"\(MetricName.number($0))\"" } ?? ""].filter { !$0.isEmpty }
                text += name + sample.suffix + (all.isEmpty ? "" : "{\(all.joined(separator: ","))}")
                text += " \(MetricName.number(sample.value))\n"
            }
        }
    }
}

/// Texts of the format.
enum MetricName {
    /// A name of Prometheus: it begins with a letter, `_` or `:`.
    static func valid(_ label: String, of kind: MetricKind) -> String {
        var name = valid(label, colons: true)
        if kind == .counter, !name.hasSuffix("_total") { name += "_total" }
        return name
    }

    private static func valid(_ text: String, colons: Bool) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(scalar)
            case ":" where colons: name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(scalar)
            default: name += "_"
            }
        }
        return name.isEmpty ? "_" : name
    }

    /// Labels in the order of their names, without braces; of two with one name, the last one counts.
    static func labels(_ dimensions: [(String, String)]) -> String {
        var labels: [String: String] = [:]
        for (name, value) in dimensions {
            var name = valid(name, colons: false)
            // Prometheus uses these itself.
            if name == "le" || name.hasPrefix("__") { name = "label_" + name }
            labels[name] = value
        }
        return labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    static func help(of label: String) -> String {
        NodeMetric.allCases.first { $0.label == label }?.help ?? ProcessMetrics.help[label]
            ?? "Reported by the program as \(valid(label, colons: true))."
    }
}
