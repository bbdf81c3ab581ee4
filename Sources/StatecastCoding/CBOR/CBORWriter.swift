import Synchronization

/// Writes CBOR deterministically (RFC 8949, section 4.2.1): shortest heads, shortest floats, one NaN.
///
/// Arrays and maps are announced with their count and followed by their items; the writer does not check that the items
/// follow, and the caller is responsible for the order of map keys. `value(_:)` writes them in order.
///
/// Copies share their memory until one of them writes. That is why the writer is `Sendable`.
package struct CBORWriter: @unchecked Sendable {
    /// The bytes, and room for more. Appending to an array would check its bounds for each byte. The header is the
    /// capacity.
    private var memory: ManagedBuffer<Int, UInt8>
    /// The number of bytes that fit the memory.
    private(set) var capacity: Int
    /// The number of bytes that have been written.
    private(set) var count = 0

    package init(reserving capacity: Int = 0) {
        self.capacity = capacity
        memory = capacity == 0 ? Self.noMemory : Self.memory(for: capacity)
    }

    /// A copy of the bytes that have been written.
    package var bytes: [UInt8] { withBytes { Array($0) } }
    /// The only item that has been written.
    var value: Value { withBytes { CheckedItems(bytes: $0).value(0..<$0.count) } }

    /// The bytes that `body` writes.
    package static func bytes(reserving capacity: Int = 0, _ body: (inout CBORWriter) -> Void) -> [UInt8] {
        withBytes(reserving: capacity, body) { Array($0) }
    }

    /// Calls `read` with the bytes that `write` writes. The buffer is valid during the call; its memory is reused.
    static func withBytes<Result>(
        reserving capacity: Int = 0,
        _ write: (inout CBORWriter) -> Void,
        _ read: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        var writer = CBORWriter()
        if let memory = pool.acquire() { (writer.memory, writer.capacity) = (memory, memory.header) }
        _ = writer.room(for: max(capacity, 256))
        write(&writer)
        defer {
            if writer.capacity <= maxPooledBytes, isKnownUniquelyReferenced(&writer.memory) {
                var memory = noMemory
                swap(&memory, &writer.memory)
                pool.release(memory)
            }
        }
        return writer.withBytes(read)
    }

    private static let pool = ObjectPool<ManagedBuffer<Int, UInt8>>()
    /// The most memory that is kept for the next user.
    static let maxPooledBytes = 65_536

    /// Removes all bytes and keeps the memory.
    package mutating func removeAll() {
        count = 0
    }

    /// Moves all bytes to the end of an array, and keeps the memory.
    package mutating func move(to bytes: inout [UInt8]) {
        withBytes { bytes.append(contentsOf: $0) }
        removeAll()
    }

    // MARK: Items

    /// An integer of 0 or above.
    package mutating func unsigned(_ value: UInt64) {
        head(0x00, value)
    }

    /// The integer -1 - n.
    package mutating func negative(_ n: UInt64) {
        head(0x20, n)
    }

    package mutating func integer(_ value: Int64) {
        if value >= 0 { unsigned(UInt64(value)) } else { negative(UInt64(bitPattern: ~value)) }
    }

    package mutating func bytes(_ value: [UInt8]) { value.withUnsafeBytes { bytes($0) } }

    package mutating func bytes(_ value: UnsafeRawBufferPointer) {
        value.withMemoryRebound(to: UInt8.self) { string(0x40, $0) }
    }

    /// A text, in the spelling that it has.
    package mutating func text(_ value: String) {
        // Nearly all strings are UTF-8 in place; `withUTF8` would need a mutable copy.
        if value.utf8.withContiguousStorageIfAvailable({ string(0x60, $0) }) == nil { bridgedText(value) }
    }

    @inline(never)
    private mutating func bridgedText(_ value: String) {
        var value = value
        value.withUTF8 { string(0x60, $0) }
    }

    /// A text in its canonical form.
    ///
    /// - Throws: `unencodable`.
    @inline(__always)
    mutating func canonicalText(_ value: String) throws(CodingFailure) {
        let isWritten = value.utf8.withContiguousStorageIfAvailable { utf8 in
            guard utf8.isASCII else { return false }
            string(0x60, utf8)
            return true
        }
        if isWritten != true { try normalizedText(value) }
    }

    @inline(never)
    private mutating func normalizedText(_ value: String) throws(CodingFailure) {
        if value.hasTooManyMarks { throw CodingFailure(.unencodable, CodingFailure.tooManyMarks) }
        text(value.canonical)
    }

    package mutating func bool(_ value: Bool) {
        byte(value ? 0xF5 : 0xF4)
    }

    package mutating func null() {
        byte(0xF6)
    }

    /// A number in the shortest of half, single and double precision that keeps it; every NaN as `f97e00`.
    package mutating func float(_ value: Double) {
        let shortest = ShortestFloat(value)
        bigEndian(shortest.first, shortest.bits, count: shortest.byteCount)
    }

    /// The head of an array; `count` items must follow.
    package mutating func array(count: Int) {
        head(0x80, UInt64(count))
    }

    /// The head of a map; `count` pairs of key and value must follow, sorted by encoded key.
    package mutating func map(count: Int) {
        head(0xA0, UInt64(count))
    }

    /// A tag; the item that it describes must follow.
    package mutating func tag(_ number: UInt64) {
        head(0xC0, number)
    }

    /// Bytes that are CBOR already.
    package mutating func encoded(_ alreadyCBOR: some Collection<UInt8>) {
        if alreadyCBOR.withContiguousStorageIfAvailable({ append($0) }) == nil {
            Array(alreadyCBOR).withUnsafeBufferPointer { append($0) }
        }
    }

    /// A whole value, with the keys of its maps in order.
    package mutating func value(_ value: Value) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .unsigned(let value): unsigned(value)
        case .negative(let value): negative(value)
        case .float(let value): float(value)
        case .text(let value): text(value)
        case .bytes(let value): bytes(value)
        case .array(let elements):
            array(count: elements.count)
            for element in elements { self.value(element) }
        case .map(let entries):
            map(count: entries.count)
            for (key, element) in entries {
                self.value(key)
                self.value(element)
            }
        case .tagged(let number, let content):
            tag(number)
            self.value(content)
        }
    }

    // MARK: Editing

    /// Removes the bytes after the first `count`.
    mutating func truncate(to count: Int) {
        precondition(count <= self.count, "expected to keep at most \(self.count) bytes, got \(count)")
        self.count = count
    }

    /// Removes a range; the bytes after it move.
    mutating func remove(_ range: Range<Int>) {
        precondition(range.upperBound <= count, "expected a range within the \(count) bytes, got \(range)")
        _ = room(for: 0)
        (base + range.lowerBound).update(from: base + range.upperBound, count: count - range.upperBound)
        count -= range.count
    }

    /// Leaves room for the head of an array or map whose count is not known yet.
    mutating func openContainer() {
        byte(0)
    }

    /// Writes the head of an array or map for which room was left. The bytes after it move if it needs more room.
    mutating func closeContainer(_ kind: CBORKind, at offset: Int, count: Int) {
        let head = Self.headBytes(count)
        makeGap(of: head - 1, at: offset + 1)
        _ = Self.write(kind == .map ? 0xA0 : 0x80, UInt64(count), to: base + offset)
    }

    /// Inserts items that are CBOR already.
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

    /// Whether the item at an offset is null.
    func isNull(at offset: Int) -> Bool { withBytes { $0[offset] == 0xF6 } }

    /// Calls `body` with the bytes that have been written.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Calls `body` with the bytes, which it may change, and with uninitialized room for `spare` more.
    @inline(__always)
    mutating func withBytes<Result>(
        spare: Int,
        _ body: (UnsafeMutableBufferPointer<UInt8>, _ spare: UnsafeMutablePointer<UInt8>) -> Result
    ) -> Result {
        let end = room(for: spare)
        return body(UnsafeMutableBufferPointer(start: base, count: count), end)
    }

    /// Calls `body` with the encoding of an integer of 0 or above.
    @inline(__always)
    static func withEncoding<Result>(of number: UInt64, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CBORHead.maxBytes) { bytes in
            let count = bytes.baseAddress.map { write(0x00, number, to: $0) } ?? 0
            return body(UnsafeBufferPointer(start: bytes.baseAddress, count: count))
        }
    }

    /// The size of the head of an item with this argument.
    static func headBytes(_ argument: Int) -> Int { CBORHead.size(of: UInt64(argument)) }

    // MARK: Memory

    /// The memory of all new writers. It has room for nothing, so it is never read or written.
    private nonisolated(unsafe) static let noMemory = memory(for: 0)

    private static func memory(for bytes: Int) -> ManagedBuffer<Int, UInt8> {
        ManagedBuffer.create(minimumCapacity: bytes) { _ in bytes }
    }

    @inline(__always)
    private var base: UnsafeMutablePointer<UInt8> { memory.withUnsafeMutablePointerToElements { $0 } }

    /// The address of the next bytes, with room for `bytes` of them. The caller adds to `count` what it wrote.
    @inline(__always)
    private mutating func room(for bytes: Int) -> UnsafeMutablePointer<UInt8> {
        if !isKnownUniquelyReferenced(&memory) || capacity - count < bytes { makeRoom(for: bytes) }
        return base + count
    }

    @inline(never)
    private mutating func makeRoom(for bytes: Int) {
        if capacity - count < bytes { capacity = max(capacity * 2, count + bytes, 32) }
        let next = Self.memory(for: capacity)
        next.withUnsafeMutablePointerToElements { $0.update(from: base, count: count) }
        memory = next
    }

    @inline(__always)
    private mutating func byte(_ byte: UInt8) {
        room(for: 1).pointee = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        room(for: bytes.count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    private mutating func string(_ major: UInt8, _ content: UnsafeBufferPointer<UInt8>) {
        let start = room(for: CBORHead.maxBytes + content.count)
        let head = Self.write(major, UInt64(content.count), to: start)
        if let source = content.baseAddress { (start + head).update(from: source, count: content.count) }
        count += head + content.count
    }

    @inline(__always)
    private mutating func head(_ major: UInt8, _ argument: UInt64) {
        count += Self.write(major, argument, to: room(for: CBORHead.maxBytes))
    }

    private mutating func bigEndian(_ first: UInt8, _ argument: UInt64, count: Int) {
        self.count += Self.write(first, argument, bytes: count, to: room(for: count + 1))
    }

    /// - Returns: The number of bytes that were written.
    @inline(__always)
    private static func write(_ major: UInt8, _ argument: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
        guard argument >= 24 else {
            target.pointee = major | UInt8(truncatingIfNeeded: argument)
            return 1
        }
        return writeLong(major, argument, to: target)
    }

    private static func writeLong(_ major: UInt8, _ argument: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
        switch argument {
        case ...0xFF: write(major | 24, argument, bytes: 1, to: target)
        case 0x100...0xFFFF: write(major | 25, argument, bytes: 2, to: target)
        case 0x1_0000...0xFFFF_FFFF: write(major | 26, argument, bytes: 4, to: target)
        default: write(major | 27, argument, bytes: 8, to: target)
        }
    }

    /// Writes a byte and the last `count` bytes of a number.
    @inline(__always)
    private static func write(
        _ first: UInt8,
        _ argument: UInt64,
        bytes count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        target.pointee = first
        var rest = argument
        var index = count
        while index > 0 {
            target[index] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            index -= 1
        }
        return count + 1
    }
}

extension Value {
    /// The value in CBOR, deterministically. Texts beyond ``CodingLimits/maxCombiningMarks`` are written although
    /// readers refuse them.
    public var encoded: [UInt8] { withEncoding { Array($0) } }

    /// Calls `body` with the bytes of ``encoded``. The buffer is valid during the call.
    func withEncoding<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        CBORWriter.withBytes({ $0.value(self) }, body)
    }
}

/// A pool of at most one object that waits for reuse: most values are small, and making the objects that code them
/// costs more than coding them (20 % of the instructions for encoding an action, 10 % for decoding it).
struct ObjectPool<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    // Owns the object. `acquire` returns it to one caller, on any thread.
    private let object = Atomic<Unmanaged<Object>?>(nil)

    func acquire() -> Object? {
        object.exchange(nil, ordering: .acquiring)?.takeRetainedValue()
    }

    /// - Precondition: The object has no other owner.
    func release(_ new: consuming Object) {
        object.exchange(Unmanaged.passRetained(new), ordering: .acquiringAndReleasing)?.release()
    }
}
