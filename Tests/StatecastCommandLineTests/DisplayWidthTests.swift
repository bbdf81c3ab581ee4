import StatecastTerminal
import Testing

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("plain", 5), ("Zürich", 6), ("e\u{301}", 1), ("a\u{20DD}", 1), ("東京", 4), ("ｆｕｌｌ", 8),
        ("ﾊﾝｶｸ", 4), ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("👍", 2), ("👍🏽", 2), ("🇨🇭", 2), ("👩\u{200D}👧", 2),
        ("❤", 1), ("❤\u{FE0F}", 2), ("1\u{FE0F}\u{20E3}", 2), ("\u{200B}", 0), ("\u{301}", 0), ("█░…", 3), ("𠀀", 2),
        ("कि", 2), ("\u{7}\u{7F}", 0), ("〈", 2), ("𛀀", 2), ("Ω", 1),
    ]) func `a text has the columns of its characters`(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test(arguments: [
        ("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("東京都", 6, "東京都"), ("東京都", 5, "東京…"), ("東京都", 4, "東…"),
        ("東京都", 1, "…"), ("東京都", 0, ""), ("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}"), ("e\u{301}ab", 2, "e\u{301}…"),
        ("👩\u{200D}👧a", 3, "👩\u{200D}👧a"), ("👩\u{200D}👧ab", 3, "👩\u{200D}👧…"),
    ]) func `a text is cut between characters, to the width of the screen`(text: String, width: Int, shown: String) {
        #expect(text.clipped(to: width) == shown)
        #expect(text.padded(to: width).displayWidth == width)
        #expect(text.padded(to: width, alignment: .right).displayWidth == width)
    }

    @Test func `a text is wrapped between words`() {
        #expect("one two  three".wrapped(to: 7) == ["one two", "three"])
        #expect("one two three".wrapped(to: 80) == ["one two three"])
        #expect("東京 都 abcdefg".wrapped(to: 6) == ["東京", "都", "abcde…"])
        #expect("".wrapped(to: 6) == [])
    }
}
