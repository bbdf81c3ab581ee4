import CommandLineSupport
import StateCoding
import StateJSON
import Testing

@Suite struct JSONLineTests {
    @Test func `fields stand in the order in which they are given`() {
        let line = JSONLine(["revision": 3, "epoch": 1, "state": ["b": .null, "a": [true, 1.5, "text"]]])
        #expect(line.description.hasPrefix(#"{"revision":3,"epoch":1,"state":{"#))
        #expect(JSONLine([:]).description == "{}")
    }

    @Test func `a line is JSON that means what it was made of`() throws {
        let value: Value = ["quote\"": "back\\slash \u{1}", "big": .unsigned(.max), "negative": -7, "none": .null]
        let line = JSONLine(["value": value, "key \"": 1])
        #expect(try JSON.value(parsing: line.description) == ["value": value, "key \"": 1])
    }

    @Test func `no character that steers a terminal stands in a line as it is, and none is lost`() throws {
        let text = (0...0x2FFF).compactMap(Unicode.Scalar.init).map { "x\($0)" }.joined() + "\u{E0041}\u{FEFF}"
        let line = JSONLine(["text": .text(text)]).description
        let steering = line.unicodeScalars.filter { [.control, .format].contains($0.properties.generalCategory) }
        #expect(steering.isEmpty)
        #expect(try JSON.value(parsing: line)["text"]?.textValue == text)
    }

    @Test(arguments: [
        ("\u{1B}[2J", #"\u001b[2J"#), ("\u{9B}31m", #"\u009b31m"#), ("\u{7F}", #"\u007f"#), ("\u{202E}", #"\u202e"#),
        ("\u{E0041}", #"\udb40\udc41"#),
    ]) func `such a character is written out as JSON does it`(text: String, written: String) {
        #expect(JSONLine(["t": .text(text)]).description == #"{"t":"\#(written)"}"#)
        #expect(JSONLine([text: 1]).description == #"{"\#(written)":1}"#)
    }

    @Test func `other characters stand as they are`() {
        let text = "Zürich, 東京, \u{A9}\u{A0}\u{BF}, 👍🏽"
        #expect(JSONLine(["name": .text(text)]).description == #"{"name":"\#(text)"}"#)
    }
}
