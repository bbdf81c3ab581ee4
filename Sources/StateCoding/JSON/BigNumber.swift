/// Integers beyond 64 bits, as the byte strings of tags 2 and 3 hold them (RFC 8949, section 3.4.3), and their digits.
enum BigNumber {
    /// Changing the base takes time that grows with the square of the length, so longer ones stay bytes. 1024 bits
    /// reach as far as a `Double` does.
    static let bytesMax = 128
    /// As many digits as those bytes can have.
    static let digitsMax = 309

    /// The decimal digits, 0 to 9 each, of a magnitude; the most significant comes first.
    ///
    /// - Returns: `nil` beyond `bytesMax`.
    static func digits(_ bytes: [UInt8]) -> [UInt8]? {
        let bytes = bytes.drop { $0 == 0 }
        guard bytes.count <= bytesMax else { return nil }
        return converted(Array(bytes), groupedBy: 4, base: 256, to: 10, groupedBy: 9)
    }

    /// The bytes of a magnitude in digits; the most significant comes first.
    static func bytes(_ digits: [UInt8]) -> [UInt8] {
        converted(digits, groupedBy: 9, base: 10, to: 256, groupedBy: 4)
    }

    /// One more than the magnitude.
    static func incremented(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.reversed() {
            bytes[index] &+= 1
            if bytes[index] != 0 { return bytes }
        }
        return [1] + bytes
    }

    /// One less than a magnitude of 1 or above.
    static func decremented(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.reversed() {
            bytes[index] &-= 1
            if bytes[index] != 0xFF { break }
        }
        return Array(bytes.drop { $0 == 0 })
    }

    /// Groups of places are handled at once; a product of two groups must fit 64 bits.
    private static func converted(
        _ source: [UInt8],
        groupedBy sourceGroup: Int,
        base: UInt64,
        to newBase: UInt64,
        groupedBy resultGroup: Int
    ) -> [UInt8] {
        let radix = (0..<resultGroup).reduce(1) { power, _ in power * newBase }
        /// The least significant group comes first.
        var groups: [UInt64] = []
        var start = 0
        while start < source.count {
            // The first group is the short one.
            let end = start + (source.count - start - 1) % sourceGroup + 1
            let (scale, addend) = source[start..<end].reduce((UInt64(1), UInt64(0))) {
                ($0.0 * base, $0.1 * base + UInt64($1))
            }
            var carry = addend
            for index in groups.indices {
                let value = groups[index] * scale + carry
                groups[index] = value % radix
                carry = value / radix
            }
            if carry > 0 { groups.append(carry % radix) }
            if carry >= radix { groups.append(carry / radix) }
            start = end
        }
        var places: [UInt8] = []
        places.reserveCapacity(groups.count * resultGroup)
        for group in groups {
            var rest = group
            for _ in 0..<resultGroup {
                places.append(UInt8(rest % newBase))
                rest /= newBase
            }
        }
        while places.last == 0 { places.removeLast() }
        return places.reversed()
    }
}
