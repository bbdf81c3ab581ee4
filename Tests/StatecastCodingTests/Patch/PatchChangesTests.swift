import StatecastJSON
import Testing

@testable import StatecastCoding

@Suite struct `The changes of a patch` {
    /// A patch, a path as a JSON Pointer, and what `description` has of the change.
    @Test(
        arguments: [
            // Maps.
            (["a": [5]], "/a", "set 5"), (["a": [5]], "", "child"), (["a": [5]], "/b", nil),
            (["a": [5]], "/a/b", Self.above),
            (["a": [["b": 5]]], "/a/b", "replaced-above 5"), (["a": ["b": [5]]], "/a", "child"),
            (["a": ["b": .null]], "/a/b", "removed"), (["a": .null], "/a/b", Self.above),
            (["a": .null], "/a", "removed"),
            ([["a": 1]], "", #"set {"a":1}"#), ([:], "", nil), (["a": [.null]], "/a", "set null"),
            // Arrays by index, and splices.
            (["l": [1: [5]]], "/l/1", "set 5"), (["l": [1: [5]]], "/l/0", nil),
            (["l": [[5, 6]]], "/l/1", "\(Self.above) 6"),
            (["l": [[5, 6]]], "/l/2", Self.above), (["l": [1, 0, [7]]], "/l", "set"),
            (["l": [1, 0, [7]]], "/l/0", nil),
            (["l": [1, 0, [7]]], "/l/1", "set 7"), (["l": [1, 0, [7]]], "/l/2", Self.above),
            (["l": [1, 1, [7]]], "/l/2", nil), (["l": [1, 0, [["x": 7]]]], "/l/1/x", "\(Self.above) 7"),
            (["l": [1, 0, [7]]], "/l/x", nil), (["l": [0, 1, []]], "/l/0", Self.above),
            // Sequences.
            ([["a": [1]], ["a": [2]]], "/a", "set 2"), ([["a": [1]], ["b": [2]]], "/a", "set 1"),
            ([["a": .null], ["a": [2]]], "/a", "set 2"), ([["a": [["x": 1]]], ["a": ["x": [2]]]], "/a", "set"),
            ([["a": ["x": [1]]], ["a": ["x": [2]]]], "/a", "child"), ([["a": [2]], ["a": .null]], "/a", "removed"),
            ([["a": [["b": ["x": 1]]]], ["a": ["b": ["x": [2]]]]], "/a/b", Self.above),
            ([["l": [0, 1, []]], ["l": [0: [7]]]], "/l/0", "set 7"),
            // Keys of all kinds by their names.
            ([5: [1]], "/5", "set 1"), (["5": [1]], "/5", "set 1"), ([-5: [1]], "/-5", "set 1"),
            ([-5: [["caf\u{E9}": 1]]], "/-5/cafe\u{301}", "\(Self.above) 1"), ([true: [1]], "/true", "set 1"),
            ([1.5: [1]], "/1.5", "set 1"), ([[1]: [1]], "/gQE=", "set 1"), ([.bytes([1]): [1]], #"/"AQ==""#, "set 1"),
            ([.tagged(32, "u:v"): [1]], "/u:v", "set 1"), (["a": [.tagged(9, ["b": 1])]], "/a/b", "\(Self.above) 1"),
            ([.tagged(4, [-2, 150]): [1]], "/1.5", nil), ([.tagged(4, [-1, 15]): [1]], "/1.5", "set 1"),
            ([.tagged(37, .bytes(Array(0..<16))): [1]], "/00010203-0405-0607-0809-0A0B0C0D0E0F", "set 1"),
            ([5: [["5": 1, 5: 2]]], "/5/5", "\(Self.above) 1"),
        ] as [(Value, String, String?)]
    )
    func `The change of a path is what the patch has at it, above it or below it`(
        wire: Value,
        pointer: String,
        expected: String?
    ) throws {
        let path = ValuePath(try #require(JSONPointer.components(of: pointer)))
        #expect(try Patch(decoding: wire.encoded).change(at: path)?.description == expected)
    }

    private static let above = "replaced-above"

    @Test(arguments: seeds(0..<100)) func `The change of each path is that of the values there`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var value = generator.value(depth: 4)
        for _ in 0..<8 {
            let next = generator.changed(value)
            try check(Patch(from: value, to: next), from: value, to: next, isMinimal: true)
            value = next
        }
    }

    @Test(arguments: seeds(0..<60)) func `The changes of patches in a row are those of their sequence`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let first = generator.value(depth: 4)
        var (value, composed, patches) = (first, Patch.none, [[UInt8]]())
        for _ in 0..<6 {
            let next = generator.changed(value)
            let patch = Patch(from: value, to: next)
            composed = composed.composed(with: patch)
            patches.append(patch.encode())
            value = next
            try check(composed, from: first, to: value, isMinimal: false)
            try check(
                Patch(decoding: #require(Patch.sequence(encoded: patches))),
                from: first,
                to: value,
                isMinimal: false
            )
        }
    }

    @Test(arguments: seeds(0..<40)) func `The changes of a typed state are those of its encodings`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var world = World()
        for _ in 0..<8 {
            let before = world
            generator.change(&world)
            let (old, new) = (try StateEncoder().value(of: before), try StateEncoder().value(of: world))
            try check(Differ.patch(from: before, to: world).patch, from: old, to: new, isMinimal: false)
        }
    }

    /// Compares the change of each path with the values there.
    ///
    /// - Parameter isMinimal: whether the patch sets no value to an equal one.
    private func check(_ patch: Patch, from old: Value, to new: Value, isMinimal: Bool) throws {
        var places: [[String]] = []
        patch.forEachChange { path, kind, _ in
            let names = path.map(\.keyName)
            #expect(patch.isSequence || patch.change(at: ValuePath(names))?.kind == kind, "\(names): \(patch)")
            places.append(names)
            return true
        }
        for names in Set(paths(of: old) + paths(of: new)) {
            let path = ValuePath(names)
            let (before, after) = (old.part(at: names), new.part(at: names))
            let change = patch.change(at: path)
            let comment: Comment = "\(names): \(change?.description ?? "none") from \(old) to \(new) by \(patch)"
            #expect(change != nil || before == after, comment)
            let isListed = places.contains { $0.starts(with: names) || names.starts(with: $0) }
            #expect(isListed == (change != nil) || change == nil, comment)
            guard let change else { continue }
            if let value = change.value { #expect(value == after, comment) }
            switch change.kind {
            case .set: #expect(after != nil, comment)
            case .removed: #expect(after == nil, comment)
            case .child: #expect(before?.isContainer == true && after?.isContainer == true, comment)
            case .replacedAbove: break
            }
            let isInArray = names.indices.contains { old.part(at: names[..<$0])?.arrayValue != nil }
            if isMinimal, change.kind != .replacedAbove, !isInArray { #expect(before != after, comment) }
        }
    }

    /// The paths of a value's parts, and some of parts that it does not have.
    private func paths(of value: Value) -> [[String]] {
        let names: [String] =
            switch PlainForm(value) {
            case .map(let map): map.keys.map(\.keyName)
            case .array(let elements): elements.indices.map(String.init)
            default: []
            }
        return [[], ["absent"], ["7"]]
            + names.flatMap { name in
                paths(of: value.child(name) ?? .null).map { [name] + $0 }
            }
    }

    @Test func `A listing of changes ends when it is stopped`() throws {
        let wire: Value = ["a": [1], "b": ["c": .null, "d": [0, 0, [1]]], "e": [2]]
        let patch = try Patch(decoding: wire.encoded)
        for count in 1...4 {
            var seen: [String] = []
            let isWhole = patch.forEachChange { path, kind, _ in
                seen.append("\(JSONPointer.text(of: path.map(\.keyName))) \(kind.rawValue)")
                return seen.count < count
            }
            #expect(seen == Array(["/a set", "/b/c removed", "/b/d set", "/e set"].prefix(count)))
            #expect(!isWhole)
        }
        #expect(patch.forEachChange { _, _, _ in true })
    }
}

extension Value {
    fileprivate var isContainer: Bool { arrayValue != nil || mapValue != nil }
}

extension Patch.Change: CustomTestStringConvertible {
    fileprivate var description: String { kind.rawValue + (value.map { " \($0)" } ?? "") }
    package var testDescription: String { description }
}
