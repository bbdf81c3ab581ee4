import StatecastCoding
import StatecastCommandLine
import StatecastJSON
import Testing

@Suite struct VisibleTextTests {
    @Test func `text of any language passes unchanged`() {
        for text in ["", "load 0.42", "Zürich, Žilina, 東京, مرحبا, שלום, e\u{301}", "👍🏽 🇨🇭", "a\u{A0}b  c"] {
            #expect(VisibleText.line(text) == text)
        }
    }

    @Test(arguments: [
        ("\u{1B}[2J", "\\u{1b}[2J"), ("a\nb\r\n", "a\\u{a}b\\u{d}\\u{a}"), ("\t", "\\u{9}"), ("\u{0}", "\\u{0}"),
        ("\u{7F}", "\\u{7f}"), ("\u{9B}31m", "\\u{9b}31m"), ("\u{85}", "\\u{85}"),
    ]) func `a control character is escaped`(text: String, shown: String) {
        #expect(VisibleText.line(text) == shown)
    }

    @Test(arguments: [
        "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}", "\u{200E}", "\u{200F}", "\u{061C}", "\u{200B}", "\u{FEFF}",
        "\u{2028}", "\u{2029}", "\u{AD}", "\u{E0041}", "\u{E000}",
    ]) func `a character that turns, hides or breaks text is escaped`(character: String) {
        let shown = VisibleText.line("a\(character)b")
        #expect(shown.hasPrefix("a\\u{") && shown.hasSuffix("}b"))
    }

    @Test func `no control character remains`() {
        let all = (0...0x2FFF).compactMap(Unicode.Scalar.init).map { "x\($0)" }.joined()
        let controls = VisibleText.line(all).unicodeScalars.filter {
            [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        #expect(controls.isEmpty)
    }
}

@Suite struct JSONLineTests {
    @Test func `fields keep their order`() {
        let line = JSONLine(["revision": 3, "epoch": 1, "state": ["b": .null, "a": [true, 1.5, "text"]]])
        #expect(line.description.hasPrefix(#"{"revision":3,"epoch":1,"state":{"#))
        #expect(JSONLine([:]).description == "{}")
    }

    @Test func `a line is JSON that parses to the same values`() throws {
        let value: Value = ["quote\"": "back\\slash \u{1}", "big": .unsigned(.max), "negative": -7, "none": .null]
        let line = JSONLine(["value": value, "key \"": 1])
        #expect(try JSON.value(parsing: line.description) == ["value": value, "key \"": 1])
    }

    @Test func `control characters are escaped, and keep their value`() throws {
        let text = (0...0x2FFF).compactMap(Unicode.Scalar.init).map { "x\($0)" }.joined() + "\u{E0041}\u{FEFF}"
        let line = JSONLine(["text": .text(text)]).description
        let controls = line.unicodeScalars.filter { [.control, .format].contains($0.properties.generalCategory) }
        #expect(controls.isEmpty)
        #expect(try JSON.value(parsing: line)["text"]?.textValue == text)
    }

    @Test(arguments: [
        ("\u{1B}[2J", #"\u001b[2J"#), ("\u{9B}31m", #"\u009b31m"#), ("\u{7F}", #"\u007f"#), ("\u{202E}", #"\u202e"#),
        ("\u{E0041}", #"\udb40\udc41"#),
    ]) func `a control character has a JSON escape`(text: String, written: String) {
        #expect(JSONLine(["t": .text(text)]).description == #"{"t":"\#(written)"}"#)
        #expect(JSONLine([text: 1]).description == #"{"\#(written)":1}"#)
    }

    @Test func `other characters are not escaped`() {
        let text = "Zürich, 東京, \u{A9}\u{A0}\u{BF}, 👍🏽"
        #expect(JSONLine(["name": .text(text)]).description == #"{"name":"\#(text)"}"#)
    }
}
