/// Changes what was written already.
extension CBORWriter {
    /// Takes back what was written behind a place.
    mutating func truncate(to count: Int) {
        precondition(count <= self.count, "expected to keep at most \(self.count) bytes, got \(count)")
        self.count = count
    }

    /// Leaves room for the head of an array or map whose count is not known yet.
    mutating func openContainer() {
        byte(0)
    }

    /// Writes the head of an array or map where room was left for it. All that follows moves if it needs more.
    mutating func closeContainer(_ kind: CBORKind, at offset: Int, count: Int) {
        let head = Self.headBytes(count)
        makeGap(of: head - 1, at: offset + 1)
        _ = Self.write(kind == .map ? 0xA0 : 0x80, UInt64(count), to: base + offset)
    }

    /// Puts items that are CBOR already in front of what was written behind a place.
    mutating func insert(_ alreadyCBOR: [UInt8], at offset: Int) {
        makeGap(of: alreadyCBOR.count, at: offset)
        (base + offset).update(from: alreadyCBOR, count: alreadyCBOR.count)
    }

    @inline(__always)
    private mutating func makeGap(of bytes: Int, at offset: Int) {
        precondition(offset <= count, "expected a place within the \(count) bytes, got \(offset)")
        _ = room(for: bytes)
        guard bytes > 0 else { return }
        (base + offset + bytes).update(from: base + offset, count: count - offset)
        count += bytes
    }

    /// Looks at the bytes in place.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Works on the bytes in place. Behind them is room for so many more, which hold nothing yet.
    @inline(__always)
    mutating func withBytes<Result>(
        spare: Int,
        _ body: (UnsafeMutableBufferPointer<UInt8>, _ spare: UnsafeMutablePointer<UInt8>) -> Result
    ) -> Result {
        let end = room(for: spare)
        return body(UnsafeMutableBufferPointer(start: base, count: count), end)
    }

    /// How many bytes the head of an item with this argument takes.
    static func headBytes(_ argument: Int) -> Int {
        switch argument {
        case ..<24: 1
        case ...0xFF: 2
        case ...0xFFFF: 3
        case ...0xFFFF_FFFF: 5
        default: 9
        }
    }
}
