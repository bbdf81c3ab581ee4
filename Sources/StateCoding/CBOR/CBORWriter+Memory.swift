/// Single bytes and heads, written into memory that grows.
extension CBORWriter {
    /// Where the next bytes go. There is room for so many; the caller then counts what it wrote.
    @inline(__always)
    mutating func room(for bytes: Int) -> UnsafeMutablePointer<UInt8> {
        if !isKnownUniquelyReferenced(&memory) || capacity - count < bytes { makeRoom(for: bytes) }
        return base + count
    }

    @inline(__always)
    var base: UnsafeMutablePointer<UInt8> { memory.withUnsafeMutablePointerToElements { $0 } }

    /// What all new writers share. It has room for nothing, so nobody ever reads or writes a byte of it.
    nonisolated(unsafe) static let noMemory = memory(for: 0)

    static func memory(for bytes: Int) -> ManagedBuffer<Void, UInt8> {
        ManagedBuffer.create(minimumCapacity: bytes) { _ in }
    }

    @inline(never)
    mutating func makeRoom(for bytes: Int) {
        if capacity - count < bytes { capacity = max(capacity * 2, count + bytes, 32) }
        let next = Self.memory(for: capacity)
        next.withUnsafeMutablePointerToElements { $0.update(from: base, count: count) }
        memory = next
    }

    @inline(__always)
    mutating func byte(_ byte: UInt8) {
        room(for: 1).pointee = byte
        count += 1
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        room(for: bytes.count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    /// Writes a byte string or a text. Behind it come zeros that do not count, so that eight bytes can be looked at in one
    /// go from any byte of it.
    ///
    /// - Returns: where the content is.
    @inline(__always)
    mutating func string(_ major: UInt8, _ content: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let start = room(for: Self.headBytesMax + content.count + 8)
        let head = Self.write(major, UInt64(content.count), to: start)
        let target = start + head
        if let source = content.baseAddress { target.update(from: source, count: content.count) }
        UnsafeMutableRawPointer(target + content.count).storeBytes(of: 0, as: UInt64.self)
        count += head + content.count
        return target
    }

    @inline(__always)
    mutating func head(_ major: UInt8, _ argument: UInt64) {
        count += Self.write(major, argument, to: room(for: Self.headBytesMax))
    }

    mutating func bigEndian(_ first: UInt8, _ argument: UInt64, count: Int) {
        self.count += Self.write(first, argument, bytes: count, to: room(for: count + 1))
    }

    static let headBytesMax = 9

    /// - Returns: how many bytes were written.
    @inline(__always)
    static func write(_ major: UInt8, _ argument: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
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

    /// Writes a byte and the last so many bytes of a number.
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
