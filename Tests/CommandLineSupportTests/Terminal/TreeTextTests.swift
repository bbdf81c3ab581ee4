import StateCoding
import StateJSON
import Testing

@testable import CommandLineSupport

@Suite struct TreeTextTests {
    private func lines(_ value: Value, linesMax: Int = 100) -> [String] {
        var tree = TreeText(linesMax: linesMax)
        tree.append(value)
        return tree.lines
    }

    @Test func `a map is a line for each entry, indented by depth`() {
        let state: Value = ["counter": 7, "hosts": ["web-1": ["load1": 0.42, "up": true]], "notes": .array([])]
        #expect(
            Set(lines(state)) == ["counter: 7", "hosts:", "  web-1:", "    load1: 0.42", "    up: true", "notes: []"]
        )
        #expect(lines(["hosts": ["web-1": ["load1": 0.42]]]) == ["hosts:", "  web-1:", "    load1: 0.42"])
    }

    @Test func `an array's elements stand under their indexes`() {
        #expect(
            lines(["notes": ["first", ["text": "second"]]]) == ["notes:", "  0: first", "  1:", "    text: second"]
        )
    }

    @Test(
        arguments: [
            (7, "7"), (nil, "null"), (true, "true"), ("text", "text"), (.array([]), "[]"), (.map([:]), "{}"),
        ] as [(Value?, String)]
    ) func `a value without parts is one line`(value: Value?, line: String) {
        #expect(lines(value ?? .null) == [line])
    }

    @Test(arguments: ["7", "true", "null", "{}", "\"quoted\"", ""])
    func `a text that could be taken for something else keeps its quotes`(text: String) throws {
        let line = try #require(lines(["key": .text(text)]).first)
        #expect(line == "key: " + JSON.text(of: .text(text)))
    }

    @Test func `a key that is no text is shown as JSON`() {
        #expect(lines(.map([7: "seven"])) == ["7: seven"])
    }

    @Test func `no more than fits is shown, and that it was cut is known`() {
        let state: Value = .array((0..<10).map { Value($0) })
        for (linesMax, isCut) in [(10, false), (9, true), (1, true), (0, true)] {
            var tree = TreeText(linesMax: linesMax)
            tree.append(state)
            #expect(tree.lines.count == linesMax)
            #expect(tree.isCut == isCut)
        }
    }

    @Test func `what does not fit below is not looked at`() {
        var tree = TreeText(linesMax: 2)
        tree.append(["a": ["b": ["c": ["d": 1]]]])
        #expect(tree.lines == ["a:", "  b:"])
        #expect(tree.isCut)
    }

    @Test func `keys and texts of a state reach no terminal as they are`() {
        for line in lines(["\u{1B}[2J": "\u{9B}31m\nnext\u{202E}", "deep\n": ["\r": "\u{7}"]]) {
            let steering = line.unicodeScalars.filter { [.control, .format].contains($0.properties.generalCategory) }
            #expect(steering.isEmpty, "\(line)")
        }
    }
}
