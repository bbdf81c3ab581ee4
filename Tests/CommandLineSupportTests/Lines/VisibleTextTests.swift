import CommandLineSupport
import Testing

/// Whatever is in a text that came from elsewhere, a terminal shows it and does not obey it.
@Suite struct VisibleTextTests {
    @Test func `text of any language passes unchanged`() {
        for text in ["", "load 0.42", "Zürich, Žilina, 東京, مرحبا, שלום, e\u{301}", "👍🏽 🇨🇭", "a\u{A0}b  c"] {
            #expect(VisibleText.line(text) == text)
        }
    }

    @Test(arguments: [
        ("\u{1B}[2J", "\\u{1b}[2J"), ("a\nb\r\n", "a\\u{a}b\\u{d}\\u{a}"), ("\t", "\\u{9}"), ("\u{0}", "\\u{0}"),
        ("\u{7F}", "\\u{7f}"), ("\u{9B}31m", "\\u{9b}31m"), ("\u{85}", "\\u{85}"),
    ]) func `a control character is written out`(text: String, shown: String) {
        #expect(VisibleText.line(text) == shown)
    }

    @Test(arguments: [
        "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}", "\u{200E}", "\u{200F}", "\u{061C}", "\u{200B}", "\u{FEFF}",
        "\u{2028}", "\u{2029}", "\u{AD}", "\u{E0041}", "\u{E000}",
    ]) func `a character that turns, hides or breaks text is written out`(character: String) {
        let shown = VisibleText.line("a\(character)b")
        #expect(shown.hasPrefix("a\\u{") && shown.hasSuffix("}b"))
    }

    @Test func `no control character is left, wherever it stands`() {
        let all = (0...0x2FFF).compactMap(Unicode.Scalar.init).map { "x\($0)" }.joined()
        let steering = VisibleText.line(all).unicodeScalars.filter {
            [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        #expect(steering.isEmpty)
    }
}
