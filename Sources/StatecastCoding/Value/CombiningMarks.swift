#if canImport(Darwin)
    import Foundation
#else
    @_spi(_Unicode) internal import Swift
#endif

extension CodingLimits {
    /// The largest number of combining marks in a row in a text, in Unicode's form D.
    ///
    /// To compare, hash or normalize a text, the standard library sorts the marks of each letter by insertion, which
    /// takes quadratic time. With 64,000 of them, in a small frame, it takes seconds. With 128 in each run, it takes at
    /// most twice as long as with 30, which Unicode's stream-safe format (UAX #15) permits and no language writes.
    /// Texts of up to as many bytes need no search.
    ///
    /// Form D makes the limit the same for all spellings of one text.
    public static let maxCombiningMarks = 128
}

extension CodingFailure {
    /// The message about a text that has too many marks.
    package static let tooManyMarks =
        "expected a text with at most \(CodingLimits.maxCombiningMarks) combining marks in a row, got one with more"
}

extension String {
    /// Whether more combining marks follow each other than ``CodingLimits/maxCombiningMarks``.
    ///
    /// No scalar has more marks than bytes of UTF-8, so texts of usual length need no search.
    @inline(__always)
    package var hasTooManyMarks: Bool { utf8.count > CodingLimits.maxCombiningMarks && hasLongRunOfMarks }

    @inline(never)
    private var hasLongRunOfMarks: Bool {
        if let found = utf8.withContiguousStorageIfAvailable({ MarkSearch(text: $0).findsTooMany }) { return found }
        var text = self
        return text.withUTF8 { MarkSearch(text: $0).findsTooMany }
    }
}

/// Looks for runs of marks at one scalar in every hundred bytes: each run that is too long covers one of these.
private struct MarkSearch {
    /// Valid UTF-8.
    let text: UnsafeBufferPointer<UInt8>

    var findsTooMany: Bool {
        // A run has at least as many bytes as marks, but for those of its letter.
        let step = CodingLimits.maxCombiningMarks - Self.maxMarksOfALetter
        var sample = step
        while sample < text.count {
            let scalar = start(of: sample)
            if marks(at: scalar) > 0 {
                guard let end = endOfRun(around: scalar) else { return true }
                sample = end
            }
            sample += step
        }
        return false
    }

    /// The end of a run; `nil` if it has too many marks.
    private func endOfRun(around offset: Int) -> Int? {
        var first = offset
        var letter: Int?
        while first > 0, letter == nil {
            let before = start(of: first - 1)
            if marks(at: before) > 0 { first = before } else { letter = before }
        }
        var (end, count) = (first, 0)
        while end < text.count {
            let marks = marks(at: end)
            if marks == 0 { break }
            count += marks
            if count > CodingLimits.maxCombiningMarks { return nil }
            end += width(at: end)
        }
        // The marks of the letter itself only matter near the limit.
        if let letter, count + Self.maxMarksOfALetter > CodingLimits.maxCombiningMarks {
            count += marksOfLetter(at: letter)
        }
        return count > CodingLimits.maxCombiningMarks ? nil : end
    }

    // MARK: Scalars

    private func start(of offset: Int) -> Int {
        var offset = offset
        while UTF8.isContinuation(text[offset]) { offset -= 1 }
        return offset
    }

    private func width(at offset: Int) -> Int { max(1, (~text[offset]).leadingZeroBitCount) }

    private func scalar(at offset: Int) -> Unicode.Scalar {
        let bytes = text[offset..<(offset + width(at: offset))]
        return UTF8.decode(UTF8.EncodedScalar(bytes))
    }

    /// The number of combining marks in a mark's canonical decomposition (NFD); 0 for a letter.
    private func marks(at offset: Int) -> Int {
        switch text[offset] {
        // Below U+0300 there are none, nor among the usual letters of Greek, Cyrillic, Chinese and Korean.
        case 0..<0xCC, 0xCE...0xD1, 0xE4...0xE9, 0xEB...0xEC: return 0
        default: break
        }
        let scalar = scalar(at: offset)
        switch scalar.value {
        // These decompose into two marks.
        case 0x344, 0xF73, 0xF75, 0xF81: return 2
        default: return scalar.properties.canonicalCombiningClass == .notReordered ? 0 : 1
        }
    }

    /// The maximum number of marks in a precomposed letter, such as `ᾂ`.
    private static let maxMarksOfALetter = 3

    /// The number of marks at the end of a letter in form D.
    private func marksOfLetter(at offset: Int) -> Int {
        let letter = String(Character(scalar(at: offset)))
        #if canImport(Darwin)
            let decomposed = Array(letter.decomposedStringWithCanonicalMapping.unicodeScalars)
        #else
            let decomposed = Array(letter._nfd)
        #endif
        return decomposed.reversed().prefix { $0.properties.canonicalCombiningClass != .notReordered }.count
    }
}
