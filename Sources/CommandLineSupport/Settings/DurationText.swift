/// Lengths of time as people write them: `5`, `0.25`, `500ms`, `2m`.
enum DurationText {
    /// The allowed range of a setting, in seconds.
    static let sensible = 0.001...1e9

    private static let units: [(suffix: String, seconds: Double)] = [
        // The longer suffix first.
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
    ]

    /// The duration in seconds, the default unit; `nil` if the text is not a duration.
    static func seconds(_ text: String) -> Double? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        guard let number = Double(text.dropLast(unit?.suffix.count ?? 0)), number.isFinite else { return nil }
        return number * (unit?.seconds ?? 1)
    }
}
