import StateCoding
import StateJSON
import Statecast
import Testing

@testable import CommandLineSupport

@Suite struct TreePictureTests {
    private func state(_ part: Value?, status: ReplicaStatus = .live) async throws -> FollowedState {
        let settings = try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(3))
        return FollowedState(
            upstream: try await Upstream(settings),
            status: status,
            position: part.map { _ in position },
            part: part,
            isWhole: true,
            primaryTime: nil
        )
    }

    private let title = "counter, revision 3, live, from tcp://127.0.0.1:7100"

    @Test func `the tree follows the title`() async throws {
        let lines = TreePicture().lines(of: try await state(["counter": 7]), columns: 80, rows: 24)
        #expect(lines == [title, "", "counter: 7"])
    }

    @Test func `before the first state the picture is the title`() async throws {
        let lines = TreePicture().lines(of: try await state(nil, status: .joining), columns: 80, rows: 24)
        #expect(lines == ["counter, no state yet, joining, from tcp://127.0.0.1:7100"])
    }

    @Test(arguments: [
        (ReplicaStatus.joining, "joining"), (.stale, "stale: the primary is silent"),
        (.refused(Rejection(.unknownStore, "")), "refused"), (.incompatible(Rejection(.incompatible, "")), "refused"),
    ]) func `the title says how the state relates to the primary`(status: ReplicaStatus, word: String) async throws {
        let title = try await state(7, status: status).title
        #expect(title == "counter, revision 3, \(word), from tcp://127.0.0.1:7100")
    }

    @Test func `a tree that fits exactly is not cut`() async throws {
        let state = try await state(.array((0..<4).map { Value($0) }))
        let lines = TreePicture().lines(of: state, columns: 80, rows: 6)
        #expect(lines == [title, "", "0: 0", "1: 1", "2: 2", "3: 3"])
    }

    @Test func `a tree that does not fit ends with an ellipsis`() async throws {
        let state = try await state(.array((0..<5).map { Value($0) }))
        let lines = TreePicture().lines(of: state, columns: 80, rows: 6)
        #expect(lines == [title, "", "0: 0", "1: 1", "2: 2", "…"])
        #expect(TreePicture().lines(of: state, columns: 80, rows: nil).count == 7)
    }

    @Test func `a line that is too long ends with an ellipsis, one that fits exactly does not`() async throws {
        let state = try await state(["key": "abcde"])
        #expect(TreePicture().lines(of: state, columns: 10, rows: nil).last == "key: abcde")
        #expect(TreePicture().lines(of: state, columns: 9, rows: nil).last == "key: abc…")
        for columns in 0...3 {
            let lines = TreePicture().lines(of: state, columns: columns, rows: 1)
            #expect(lines.allSatisfy { $0.count <= max(1, columns) })
        }
    }

    @Test func `any size of the screen is possible`() async throws {
        let state = try await state(["a": ["b": "c"], "d": "e"])
        for rows in 0...5 {
            for columns in 0...5 { #expect(!TreePicture().lines(of: state, columns: columns, rows: rows).isEmpty) }
        }
    }
}

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
    ) func `a leaf is one line`(value: Value?, line: String) {
        #expect(lines(value ?? .null) == [line])
    }

    @Test(arguments: ["7", "true", "null", "{}", "\"quoted\"", ""])
    func `a text that reads as another JSON value keeps its quotes`(text: String) throws {
        let line = try #require(lines(["key": .text(text)]).first)
        #expect(line == "key: " + JSON.text(of: .text(text)))
    }

    @Test func `a key that is not a text is JSON`() {
        #expect(lines(.map([7: "seven"])) == ["7: seven"])
    }

    @Test func `the number of lines is limited, and the cut is reported`() {
        let state: Value = .array((0..<10).map { Value($0) })
        for (linesMax, isCut) in [(10, false), (9, true), (1, true), (0, true)] {
            var tree = TreeText(linesMax: linesMax)
            tree.append(state)
            #expect(tree.lines.count == linesMax)
            #expect(tree.isCut == isCut)
        }
    }

    @Test func `nested values beyond the limit are not visited`() {
        var tree = TreeText(linesMax: 2)
        tree.append(["a": ["b": ["c": ["d": 1]]]])
        #expect(tree.lines == ["a:", "  b:"])
        #expect(tree.isCut)
    }

    @Test func `control characters in keys and texts are escaped`() {
        for line in lines(["\u{1B}[2J": "\u{9B}31m\nnext\u{202E}", "deep\n": ["\r": "\u{7}"]]) {
            let controls = line.unicodeScalars.filter { [.control, .format].contains($0.properties.generalCategory) }
            #expect(controls.isEmpty, "\(line)")
        }
    }
}
