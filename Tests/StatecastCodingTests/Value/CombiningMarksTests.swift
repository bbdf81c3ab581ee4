import Foundation
import StatecastCoding
import Testing

/// The limit between accepted and refused texts.
@Suite struct `Combining marks in a row` {
    static let max = CodingLimits.maxCombiningMarks

    /// Marks for a run, each with its number of marks in form D.
    static let marks: [(String, Int)] = [
        ("\u{301}", 1), ("\u{316}", 1), ("\u{1DC4}", 1), ("\u{1D165}", 1), ("\u{344}", 2), ("\u{F73}", 2),
        ("\u{5B8}", 1), ("\u{340}", 1),
    ]
    /// Texts before a run, each with the number of marks at its end in form D.
    static let letters: [(String, Int)] = [("", 0), ("a", 0), ("\u{65E5}", 0), ("\u{E9}", 1), ("\u{1F82}", 3)]

    static let firstBytesOfLetters = Set(0..<0xCC).union([0xCE, 0xCF, 0xD0, 0xD1, 0xEB, 0xEC]).union(0xE4...0xE9)

    static func isAccepted(_ text: String) -> Bool { (try? Value(decoding: Value.text(text).encoded)) != nil }

    /// The scalar in form D. (Foundation drops some marks of a text with many marks in a row.)
    static func decomposed(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        Array(String(Character(scalar)).decomposedStringWithCanonicalMapping.unicodeScalars)
    }

    static func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.canonicalCombiningClass != .notReordered }

    /// The longest run by the definition, without an optimization.
    static func longestRun(_ text: String) -> Int {
        var (longest, count) = (0, 0)
        for scalar in text.unicodeScalars.flatMap(decomposed) {
            count = isMark(scalar) ? count + 1 : 0
            longest = Swift.max(longest, count)
        }
        return longest
    }

    @Test(arguments: [0, 1, 2, 62, 63, 64, 123, 124, 125, 126, 127, 128, 129, 249, 250, 251, 375, 1024, 9999])
    func `Combining marks in a row are accepted up to the limit, and refused one above, at any offset`(offset: Int) {
        let before = String(repeating: "x", count: offset)
        for (letter, own) in Self.letters {
            for (mark, each) in Self.marks {
                // As many whole marks as fit, and a single mark for the rest.
                let most = Self.max - own
                let run = String(repeating: mark, count: most / each) + (most % each == 0 ? "" : "\u{301}")
                for suffix in ["", "x", String(repeating: "x", count: 600)] {
                    let start = before + letter + run
                    #expect(Self.isAccepted(start + suffix), "\(offset) \(letter) \(mark.unicodeScalars)")
                    #expect(!Self.isAccepted(start + "\u{301}" + suffix), "\(offset) \(letter) \(mark.unicodeScalars)")
                }
            }
        }
    }

    @Test(arguments: seeds(0..<200)) func `Combining marks in a row are counted as by form D`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var text = ""
        for _ in 0..<(1 + generator.below(4)) {
            text += String(repeating: "y", count: generator.below(400)) + generator.pick(Self.letters).0
            let count = generator.pick([0, 3, 60, Self.max - 4, Self.max - 2, Self.max - 1, Self.max, Self.max + 1])
            let mark = generator.pick(Self.marks)
            text += String(repeating: mark.0, count: count / mark.1)
            for _ in 0..<generator.below(4) { text += generator.pick(Self.marks).0 }
        }
        #expect(Self.isAccepted(text) == (Self.longestRun(text) <= Self.max))
        // A key is encoded in form C.
        let key = Value.map([.text(text): 1])
        #expect((try? Value(decoding: key.encoded)) == (Self.isAccepted(text) ? key : nil))
    }

    /// Some marks consist of two, which belong among the others by their combining class.
    @Test(arguments: [
        ("\u{65E5}\u{F73}\u{F73}", "\u{65E5}\u{F71}\u{F71}\u{F72}\u{F72}"),
        ("a\u{F75}\u{302}\u{316}", "\u{E2}\u{F71}\u{F74}\u{316}"),
        ("a\u{301}\u{F81}", "\u{E1}\u{F71}\u{F80}"), ("a\u{344}", "\u{E4}\u{301}"),
    ]) func `Combining marks in a row of a key are in form C`(text: String, composed: String) throws {
        let key = try #require(Value.map([.text(text): 1]).mapValue?.keys.first?.textValue)
        #expect(key.utf8.elementsEqual(composed.utf8), "\(key.unicodeScalars.map { String($0.value, radix: 16) })")
        let read = try Value(decoding: [0xA1] + Value.text(text).encoded + [0x01])
        #expect(read == .map([.text(composed): 1]) && read[text] == 1 && read[composed] == 1)
    }

    @Test func `Combining marks in a row are accepted in texts that people write`() throws {
        let texts = [
            "\u{5D1}\u{5B0}\u{5BC}\u{5E8}\u{5B5}\u{5D0}\u{5E9}\u{5B4}\u{5C1}\u{5D9}\u{5EA} "
                + "\u{5D1}\u{5BC}\u{5B8}\u{5E8}\u{5B8}\u{5D0} ",
            "Ti\u{1EBF}ng Vi\u{1EC7}t c\u{F3} s\u{E1}u thanh \u{111}i\u{1EC7}u. ",
            "\u{915}\u{94D}\u{937}\u{93F}\u{930}\u{941} \u{0F40}\u{0F71}\u{0F72} \u{1112}\u{1161}\u{11AB} \u{D55C} ",
        ]
        let forms = texts.flatMap {
            [$0.precomposedStringWithCanonicalMapping, $0.decomposedStringWithCanonicalMapping]
        }
        let playful = "Z" + String(repeating: "\u{315}\u{31B}\u{35C}\u{489}\u{334}", count: 20) + "algo "
        for text in forms + [playful] {
            let long = String(repeating: text, count: 100_000 / text.utf8.count)
            #expect(Self.isAccepted(text) && Self.isAccepted(long))
            #expect(
                try StateDecoder().decode([String: String].self, from: StateEncoder().encode([long: long])) == [
                    long: long
                ]
            )
        }
    }

    @Test func `Combining marks in a row are found by rules that hold for all characters`() {
        var ofSeveral: [UInt32] = []
        // The characters above are ideographs and tags, and none of them are letters.
        for value in UInt32(0)...0x2_FFFF {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned else { continue }
            let decomposed = Self.decomposed(scalar)
            let isMark = decomposed.map(Self.isMark)
            let atEnd = isMark.reversed().prefix { $0 }.count
            // The search knows letters by their first byte of UTF-8.
            if let first = UTF8.encode(scalar)?.first, Self.firstBytesOfLetters.contains(Int(first)), isMark[0] {
                Issue.record("U+\(String(value, radix: 16)) is a mark")
            }
            if isMark[0] && isMark.count > 1 { ofSeveral.append(value) }
            let isLetter = !Self.isMark(scalar) && !ofSeveral.contains(value)
            let holds = atEnd <= UTF8.width(scalar) && (isLetter ? !isMark[0] && atEnd <= 3 : atEnd == isMark.count)
            if !holds { Issue.record("U+\(String(value, radix: 16)) is \(decomposed)") }
        }
        #expect(ofSeveral == [0x344, 0xF73, 0xF75, 0xF81])
    }
}
