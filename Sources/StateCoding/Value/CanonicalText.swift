#if canImport(Darwin)
    internal import Foundation
#else
    @_spi(_Unicode) internal import Swift
#endif

extension String {
    /// The text in Unicode normalization form C, in which keys travel and digests are made.
    ///
    /// Swift compares strings by canonical equivalence, so two spellings of one key are one key in a `Dictionary`; on
    /// the wire they must be one sequence of bytes.
    var canonical: String {
        // Every scalar below U+0300, whose UTF-8 starts with 0xCC, is in form C already: nearly all texts end here.
        var copy = self
        if copy.withUTF8({ $0.allSatisfy { $0 < 0xCC } }) { return self }
        #if canImport(Darwin)
            return precomposedStringWithCanonicalMapping
        #else
            var result = String.UnicodeScalarView()
            for scalar in _nfc { result.append(scalar) }
            return String(result)
        #endif
    }
}
