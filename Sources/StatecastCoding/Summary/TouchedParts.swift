/// The parts of a value that change. All others are the same before and after.
struct TouchedParts {
    /// Whether the whole value changes.
    private(set) var isWhole = false
    /// The index from which on the elements of an array may have moved.
    private(set) var movedFrom = Int.max
    /// The parts by key or by index.
    private(set) var inner: [Value: TouchedParts] = [:]

    /// Adds the whole value.
    mutating func insertAll() {
        isWhole = true
        inner = [:]
    }

    /// Adds the elements of an array from an index on.
    mutating func insertElements(from index: Int) {
        movedFrom = min(movedFrom, index)
    }

    /// Adds parts of the part with a key or an index.
    mutating func insert(at key: Value, _ body: (inout TouchedParts) -> Void) {
        if isWhole { return }
        body(&inner[key, default: TouchedParts()])
    }
}

extension Value {
    /// The key of a patch as an index. Only integers are: `1.0` is another key than `1`.
    var elementIndex: Int? {
        guard case .unsigned(let index) = self else { return nil }
        return Int(exactly: index)
    }
}
