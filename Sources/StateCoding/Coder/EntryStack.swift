/// The entries of the open maps, the innermost map's last. Raw memory, which is spared the checks of an array.
struct EntryStack {
    private var base: UnsafeMutablePointer<EncodedEntry>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 16
        base = .allocate(capacity: capacity)
    }

    /// Must be the last of it: the stack belongs to one output, which ends with it.
    func deallocate() {
        base.deallocate()
    }

    @inline(__always)
    mutating func append(_ entry: EncodedEntry) {
        if count == capacity { grow() }
        (base + count).initialize(to: entry)
        count += 1
    }

    mutating func removeAll(from first: Int) {
        precondition(first <= count, "expected to keep at most \(count) entries, got \(first)")
        count = first
    }

    subscript(from first: Int) -> UnsafeMutableBufferPointer<EncodedEntry> {
        precondition(first <= count, "expected at most \(count) entries, got \(first)")
        return UnsafeMutableBufferPointer(start: base + first, count: count - first)
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<EncodedEntry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        (base, capacity) = (larger, capacity * 2)
    }
}
