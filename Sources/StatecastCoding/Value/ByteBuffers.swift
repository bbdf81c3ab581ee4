#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

extension UnsafeBufferPointer<UInt8> {
    /// The first eight bytes as a big-endian number, padded with zeros. At most two overlapping loads read them.
    @inline(__always)
    var prefixNumber: UInt64 {
        guard let base = baseAddress, count > 0 else { return 0 }
        let bytes = UnsafeRawPointer(base)
        if count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        if count >= 4 {
            let left = UInt64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))) << 32
            let right = UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)))
            return left | right &<< UInt64(truncatingIfNeeded: 64 &- count &* 8)
        }
        let middle = UInt64(base[count / 2]) &<< UInt64(truncatingIfNeeded: 56 &- count / 2 &* 8)
        return UInt64(base[0]) << 56 | middle | UInt64(base[count - 1]) &<< UInt64(truncatingIfNeeded: 64 &- count &* 8)
    }

    /// Whether all bytes are below 0x80. Looks at eight bytes at a time.
    @inline(__always)
    var isASCII: Bool {
        guard count >= 8, let base = baseAddress else { return prefixNumber & 0x8080_8080_8080_8080 == 0 }
        let bytes = UnsafeRawPointer(base)
        var bits = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        var index = 0
        while index < count &- 8 {
            bits |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}

extension ArraySlice<UInt8> {
    /// Whether all bytes are below 0x80.
    var isASCII: Bool { withUnsafeBufferPointer(\.isASCII) }
}

/// The order of the encodings of two texts, which begin with their lengths: below, at or above zero.
func byteOrder(_ left: String.UTF8View, _ right: String.UTF8View) -> Int32 {
    if left.count != right.count { return left.count < right.count ? -1 : 1 }
    let order = left.withContiguousStorageIfAvailable { left in
        right.withContiguousStorageIfAvailable { right -> Int32 in
            guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return 0 }
            return memcmp(leftBase, rightBase, left.count)
        }
    }
    if let order, let order { return order }
    return left.elementsEqual(right) ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
}
