import Statecast
import StatecastCoding
import StatecastJSON
import StatecastTerminal
import Testing

@testable import StatecastCommandLine

extension TreePicture {
    fileprivate func lines(of state: FollowedState, columns: Int, rows: Int?) -> [String] {
        page(of: state, since: nil, in: PictureFrame(columns: columns, rows: rows)).lines.map(\.text)
    }
}

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
            #expect(lines.allSatisfy { $0.displayWidth <= columns })
        }
    }

    @Test func `lines are cut by columns, not by characters`() async throws {
        let state = try await state(["メモ": "東京の新しいディスク", "note": "e\u{301}👍🏽🇨🇭한각"])
        for columns in 0...40 {
            for line in TreePicture().lines(of: state, columns: columns, rows: nil) {
                #expect(line.displayWidth <= columns, "\(line)")
            }
        }
        let lines = TreePicture().lines(of: state, columns: 12, rows: nil)
        #expect(lines.contains("メモ: 東京…"), "\(lines)")
        #expect(lines.contains("note: e\u{301}👍🏽🇨🇭…"), "\(lines)")
    }

    @Test func `scrolling shows the following lines below the title, up to the last ones`() async throws {
        let state = try await state(["list": .array((0..<6).map { Value($0) })])
        func shown(from first: Int) -> (lines: [String], first: Int) {
            let page = TreePicture().page(of: state, since: nil, in: PictureFrame(columns: 80, rows: 5, first: first))
            return (page.lines.dropFirst(2).map(\.text), page.first)
        }
        #expect(shown(from: 0) == (["list:", "  0: 0", "…"], 0))
        #expect(shown(from: 2) == (["  1: 1", "  2: 2", "…"], 2))
        for first in [4, 5, 7, 1_000, .max] { #expect(shown(from: first) == (["  3: 3", "  4: 4", "  5: 5"], 4)) }
        let small = try await self.state(["a": 1])
        #expect(TreePicture().page(of: small, since: nil, in: PictureFrame(columns: 80, rows: 9, first: 7)).first == 0)
    }

    @Test func `lines that differ from an earlier state are marked`() async throws {
        let hosts: Value = ["web-1": ["load": 1, "up": true], "web-2": ["load": 2], "list": .array([1, 2])]
        let changed: Value = ["web-1": ["load": 3, "up": true], "web-3": ["load": 2], "list": .array([1, 7, 8])]
        func marked(since earlier: Value?) async throws -> Set<String> {
            let earlier = if let earlier { try await state(earlier) } else { FollowedState?.none }
            let frame = PictureFrame(columns: 80, rows: nil)
            let page = TreePicture().page(of: try await state(changed), since: earlier, in: frame)
            return Set(page.lines.filter(\.isChanged).map(\.text))
        }
        #expect(try await marked(since: nil) == [])
        #expect(try await marked(since: changed) == [])
        #expect(try await marked(since: hosts) == ["  load: 3", "web-3:", "  load: 2", "  1: 7", "  2: 8"])
        #expect(try await marked(since: ["web-1": 5]).isSuperset(of: ["web-1:", "  up: true", "list:"]))
    }

    @Test func `any size of the screen is possible`() async throws {
        let state = try await state(["a": ["b": "c"], "d": "e"])
        for rows in 0...5 {
            for columns in 0...5 { #expect(!TreePicture().lines(of: state, columns: columns, rows: rows).isEmpty) }
        }
    }
}

@Suite struct TreeTextTests {
    private func lines(_ value: Value, maxLines: Int = 100) -> [String] {
        var tree = TreeText(maxLines: maxLines)
        tree.append(value)
        return tree.lines.map(\.text)
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
        for (maxLines, isCut) in [(10, false), (9, true), (1, true), (0, true)] {
            var tree = TreeText(maxLines: maxLines)
            tree.append(state)
            #expect(tree.lines.count == maxLines)
            #expect(tree.isCut == isCut)
        }
    }

    @Test func `nested values beyond the limit are not visited`() {
        var tree = TreeText(maxLines: 2)
        tree.append(["a": ["b": ["c": ["d": 1]]]])
        #expect(tree.lines.map(\.text) == ["a:", "  b:"])
        #expect(tree.isCut)
    }

    @Test func `control characters in keys and texts are escaped`() {
        for line in lines(["\u{1B}[2J": "\u{9B}31m\nnext\u{202E}", "deep\n": ["\r": "\u{7}"]]) {
            let controls = line.unicodeScalars.filter { [.control, .format].contains($0.properties.generalCategory) }
            #expect(controls.isEmpty, "\(line)")
        }
    }
}
