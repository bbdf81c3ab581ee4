#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// The first eight bytes of an encoded key as one number, which decides nearly every comparison of two keys: the
/// deterministic order of a map is bytewise (RFC 8949, section 4.2.1). A shorter key is filled up with zeros.
///
/// No whole key is the beginning of another one, so different keys of up to eight bytes have different numbers.
struct EncodedOrder: Comparable {
    static let bytes = 8
    private let number: UInt64

    @inline(__always)
    private init(number: UInt64) { self.number = number }

    /// The order of the key that begins at an offset and takes so many bytes.
    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, count: Int) {
        guard let base = bytes.baseAddress, offset <= bytes.count &- Self.bytes else {
            self.init(number: Self.atEnd(bytes, offset, count))
            return
        }
        self.init(base + offset, count: count)
    }

    /// The order of a key that takes so many bytes. Whatever is in memory behind a short key, eight bytes can be read.
    @inline(__always)
    init(_ key: UnsafePointer<UInt8>, count: Int) {
        let word = UInt64(bigEndian: UnsafeRawPointer(key).loadUnaligned(as: UInt64.self))
        self.init(number: count >= Self.bytes ? word : word & ~(.max &>> UInt64(truncatingIfNeeded: count &* 8)))
    }

    /// Fewer than eight bytes are left.
    @inline(never)
    private static func atEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int, _ count: Int) -> UInt64 {
        firstBytes(UnsafeBufferPointer(rebasing: bytes[offset..<min(offset + count, bytes.count)]))
    }

    /// The order of a text that would be the key.
    @inline(__always)
    init(text: UnsafeBufferPointer<UInt8>) {
        if text.count < 24 {
            self.init(number: (0x60 | UInt64(text.count)) << 56 | Self.firstBytes(text) >> 8)
        } else {
            self.init(longText: text)
        }
    }

    @inline(never)
    private init(longText text: UnsafeBufferPointer<UInt8>) {
        let count = UInt64(text.count)
        let first = Self.firstBytes(text)
        switch count {
        case ...0xFF: self.init(number: (0x7800 | count) << 48 | first >> 16)
        case ...0xFFFF: self.init(number: (0x79_0000 | count) << 40 | first >> 24)
        case ...0xFFFF_FFFF: self.init(number: (0x7A_0000_0000 | count) << 24 | first >> 40)
        // The head alone is longer.
        default: self.init(number: 0x7B << 56 | count >> 8)
        }
    }

    /// The first eight bytes, filled up with zeros. They are read in at most two overlapping parts.
    @inline(__always)
    private static func firstBytes(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let base = text.baseAddress, text.count > 0 else { return 0 }
        let bytes = UnsafeRawPointer(base)
        if text.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        let last = text.count
        if last >= 4 {
            let left = UInt64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))) << 32
            let right = UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: last - 4, as: UInt32.self)))
            return left | right &<< UInt64(truncatingIfNeeded: 64 &- last &* 8)
        }
        let middle = UInt64(base[last / 2]) &<< UInt64(truncatingIfNeeded: 56 &- last / 2 &* 8)
        return UInt64(base[0]) << 56 | middle | UInt64(base[last - 1]) &<< UInt64(truncatingIfNeeded: 64 &- last &* 8)
    }

    @inline(__always)
    static func < (left: EncodedOrder, right: EncodedOrder) -> Bool { left.number < right.number }
}

/// How two ranges of bytes compare, byte by byte: below, at or above zero.
///
/// Encoded keys are not compared beyond the shorter one: they differ before it ends, as their lengths come first.
func byteOrder(_ bytes: UnsafeBufferPointer<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Int32 {
    guard let base = bytes.baseAddress else { return 0 }
    return memcmp(base + left.lowerBound, base + right.lowerBound, min(left.count, right.count))
}
