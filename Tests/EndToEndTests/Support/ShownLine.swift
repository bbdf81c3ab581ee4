import Foundation

/// Whether a line is the one that is shown, where what differs from run to run is shown as `...`.
func matches(_ line: String, _ shown: String) -> Bool {
    let parts = shown.components(separatedBy: "...")
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return line == shown }
    var rest = line[...]
    guard rest.hasPrefix(first), rest.hasSuffix(last) else { return false }
    for part in parts where !part.isEmpty {
        guard let range = rest.range(of: part) else { return false }
        rest = rest[range.upperBound...]
    }
    return true
}
