import StatecastCoding
import StatecastJSON

/// Searches the keys and the values of a state for a text, in the order of the state, without regard to case.
struct StateSearch {
    /// The text in lower case, which is not empty. Of ASCII, the search compares bytes.
    private let wanted: [UInt8]
    private let limit: Int
    private let deadline: ContinuousClock.Instant
    /// The path of the last place that was found before; the search continues after it.
    private var resumption: [String]?
    private(set) var examined = 0
    /// The bytes that were examined since the last look at the clock.
    private var bytesExamined = 0
    /// The places in order, as JSON.
    private(set) var found: [[UInt8]] = []
    private var bytesFound = 0
    /// The last examined place, where the search ended early.
    private(set) var next: [String]?

    /// A longer text would take too long to find.
    static let maxTextBytes = 256
    private static let bytesBetweenLooks = 64 << 10

    init(_ text: String, after path: [String]?, limit: Int, until deadline: ContinuousClock.Instant) {
        wanted = Array(text.lowercased().utf8)
        (self.limit, self.deadline, resumption) = (limit, deadline, path)
    }

    mutating func run(in value: Value, at path: [String], hiding hidden: HiddenPaths) {
        _ = search(value, path, hidden.inside(path))
    }

    /// - Returns: whether the search goes on.
    private mutating func search(_ value: Value, _ path: [String], _ hidden: HiddenPaths) -> Bool {
        switch PlainForm(value) {
        case .map(let map):
            // A cursor names a place: what comes before it was examined.
            let start = skipped(path).map { map.offset(from: $0) } ?? 0
            for (key, child) in map[map.index(at: start)...] {
                guard visit(child, key.keyName, path, hidden) else { return false }
            }
        case .array(let elements):
            let start = skipped(path).flatMap { Int($0) } ?? 0
            for index in elements.indices[min(max(0, start), elements.count)...] {
                guard visit(elements[index], "\(index)", path, hidden) else { return false }
            }
        default: break
        }
        return true
    }

    /// The child of a place at which the search resumes.
    private func skipped(_ path: [String]) -> String? {
        guard let resumption, resumption.count > path.count, resumption.starts(with: path) else { return nil }
        return resumption[path.count]
    }

    private mutating func visit(_ child: Value, _ key: String, _ parent: [String], _ hidden: HiddenPaths) -> Bool {
        let hidden = hidden.inside { key }
        if hidden.hidesAll { return true }
        let path = parent + [key]
        // The cursor itself, and the places on the way to it, were examined.
        if let resumption, resumption.starts(with: path) {
            if resumption.count == path.count { self.resumption = nil }
            return search(child, path, hidden)
        }
        resumption = nil
        examined += 1
        if let match = matches(key) ? "key" : isMatch(child) ? "value" : nil {
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("path", JSONPointer.text(of: path))
                writer.member("match", match)
                StateNodes.brief(child, hiding: hidden, to: &writer)
            }
            found.append(writer.bytes)
            bytesFound += writer.bytes.count
        }
        guard found.count < limit, bytesFound < StateNodes.maxBytes, !isLate() else {
            next = path
            return false
        }
        return search(child, path, hidden)
    }

    private mutating func isLate() -> Bool {
        guard bytesExamined > Self.bytesBetweenLooks else { return false }
        bytesExamined = 0
        return .now >= deadline
    }

    private mutating func isMatch(_ value: Value) -> Bool {
        switch PlainForm(value) {
        case .null: matches("null")
        case .bool(let flag): matches(flag ? "true" : "false")
        case .number(let digits): matches(digits)
        case .text(let text): matches(text)
        case .array, .map: false
        }
    }

    private mutating func matches(_ text: String) -> Bool {
        bytesExamined += text.utf8.count + 64
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else {
                return contains(Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8)[...])
            }
            return contains(bytes[...])
        }
    }

    private func contains(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        guard bytes.count >= wanted.count else { return false }
        var start = bytes.startIndex
        let last = bytes.index(bytes.endIndex, offsetBy: -wanted.count)
        while start <= last {
            if zip(bytes[start...], wanted).allSatisfy({ Self.lower($0) == $1 }) { return true }
            bytes.formIndex(after: &start)
        }
        return false
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
