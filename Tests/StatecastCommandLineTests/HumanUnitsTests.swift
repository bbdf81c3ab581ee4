import StatecastTerminal
import Testing

@Suite struct `Human units` {
    @Test(arguments: [
        (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (1_048_575, "1.0 MiB"),
        (8_589_934_592, "8.0 GiB"), (.max, "8.0 EiB"), (-1, "-1 B"), (.min, "-8.0 EiB"),
    ])
    func `Human units show sizes`(bytes: Int, text: String) {
        #expect(HumanUnits.bytes(bytes) == text)
    }

    @Test(arguments: [
        (0, "0s"), (59.9, "59s"), (60, "1m 0s"), (3_599, "59m 59s"), (3_600, "1h 0m"), (86_399, "23h 59m"),
        (93_600, "1d 2h"), (-5, "0s"), (.infinity, "infs"), (.greatestFiniteMagnitude, "1.7976931348623157e+308s"),
    ])
    func `Human units show lengths of time`(seconds: Double, text: String) {
        #expect(HumanUnits.duration(seconds: seconds) == text)
    }

    @Test(arguments: [
        (0, "0.00"), (0.005, "0.01"), (0.996, "1.00"), (12.3, "12.30"), (-0.001, "0.00"), (-1.5, "-1.50"),
        (.nan, "nan"), (1e300, "1e+300"),
    ])
    func `Human units show numbers with two decimals`(value: Double, text: String) {
        #expect(HumanUnits.fixed(value, decimals: 2) == text)
    }

    @Test(arguments: [(0, "░░░░"), (0.5, "██░░"), (1, "████"), (7, "████"), (-1, "░░░░"), (.nan, "░░░░")])
    func `Human units show shares as bars`(share: Double, bar: String) {
        #expect(HumanUnits.bar(share, width: 4) == bar)
    }

    @Test(arguments: [
        (0, "00:00:00"), (86_399_999, "23:59:59"), (86_400_000, "00:00:00"), (-1, "23:59:59"),
    ])
    func `Human units show the time of day`(milliseconds: Int64, text: String) {
        #expect(HumanUnits.timeOfDay(milliseconds: milliseconds) == text)
    }

    @Test func `Human units show the time of day at both ends of time`() {
        #expect(HumanUnits.timeOfDay(milliseconds: .max) == "07:12:55")
        #expect(HumanUnits.timeOfDay(milliseconds: .min) == "16:47:04")
    }
}
