import StatecastCoding
import Testing

/// The size of an array's patch depends on the changes, not on the array's length.
@Suite struct `The patch of an array` {
    struct Todo: Codable, Equatable {
        var id: Int
        var title: String
        var done = false

        init(_ id: Int) { (self.id, title) = (id, "Buy \(id % 7) apples") }
    }

    /// The same without `==`, so that encodings are compared.
    struct Plain: Codable { var todo: Todo }

    static let todos = (0..<1000).map { Todo($0) }

    struct Edit: Sendable, CustomTestStringConvertible {
        var name: String
        var maxBytes: Int
        var make: @Sendable (inout [Todo]) -> Void
        var testDescription: String { name }

        init(_ name: String, atMost maxBytes: Int, _ make: @escaping @Sendable (inout [Todo]) -> Void) {
            (self.name, self.maxBytes, self.make) = (name, maxBytes, make)
        }
    }

    static let edits = [
        Edit("tick one", atMost: 20) { $0[5].done = true },
        Edit("append", atMost: 40) { $0.append(Todo(1000)) },
        Edit("drop first, append", atMost: 45) {
            $0.removeFirst()
            $0.append(Todo(1000))
        },
        Edit("tick one, append", atMost: 60) {
            $0[5].done = true
            $0.append(Todo(1000))
        },
        Edit("newest first, bounded", atMost: 50) {
            $0.insert(Todo(1000), at: 0)
            $0.removeLast()
        },
        Edit("remove two", atMost: 20) {
            $0.remove(at: 900)
            $0.remove(at: 10)
        },
        Edit("last to the front", atMost: 50) { $0.insert($0.removeLast(), at: 0) },
        Edit("tick the last, append", atMost: 60) {
            $0[999].done = true
            $0.append(Todo(1000))
        },
        Edit("tick one, insert before it", atMost: 90) {
            $0[500].done = true
            $0.insert(Todo(1000), at: 500)
        },
        Edit("tick two hundred, append", atMost: 3200) {
            for index in stride(from: 0, to: 1000, by: 5) { $0[index].done = true }
            $0.append(Todo(1000))
        },
        Edit("drop a hundred first, tick one, append", atMost: 60) {
            $0[600].done = true
            $0.removeFirst(100)
            $0.append(Todo(1000))
        },
        Edit("four edits here and there", atMost: 110) {
            $0.swapAt(20, 700)
            $0.remove(at: 300)
            $0[450].title = "Call"
        },
    ]

    @Test(arguments: edits) func `The patch of an array is short for each usual edit`(edit: Edit) throws {
        var new = Self.todos
        edit.make(&new)
        let patch = try checkLaws(from: Self.todos, to: new)
        #expect(patch.encode().count <= edit.maxBytes)
        let back = try checkLaws(from: new, to: Self.todos)
        // In the other direction the patch contains the removed elements.
        #expect(back.encode().count <= edit.maxBytes + max(80, 35 * (Self.todos.count - new.count)))
    }

    @Test(arguments: edits) func `The patch of an array is short without equality too`(edit: Edit) throws {
        var new = Self.todos
        edit.make(&new)
        let patch = try Differ.patch(from: Self.todos.map(Plain.init), to: new.map(Plain.init)).patch
        #expect(patch.encode().count <= edit.maxBytes + edit.maxBytes / 2)
        var tree = try StateEncoder().value(of: Self.todos.map(Plain.init))
        try patch.apply(to: &tree)
        #expect(try tree == StateEncoder().value(of: new.map(Plain.init)))
    }

    @Test(arguments: edits) func `The patch of an array is short between trees too`(edit: Edit) throws {
        var new = Self.todos
        edit.make(&new)
        let (before, after) = (try StateEncoder().value(of: Self.todos), try StateEncoder().value(of: new))
        let patch = Patch(from: before, to: after)
        var tree = before
        try patch.apply(to: &tree)
        #expect(tree == after)
        #expect(patch.encode().count <= edit.maxBytes)
    }

    struct Tree: Codable, Equatable {
        var leaf = 0
        var branches: [Tree] = []
    }

    // With these sizes the test would not end if each level doubled the work, or if each pair of leaves were compared.

    @Test func `The patch of an array finds a change beside a shift on each level`() throws {
        var (old, new) = (Tree(), Tree(leaf: 1))
        for _ in 0..<30 { (old, new) = (Tree(branches: [old]), Tree(branches: [Tree(leaf: 7), new])) }
        let patch = try checkLaws(from: old, to: new)
        #expect(patch.encode().count <= 30 * 36)
        let (before, after) = (try StateEncoder().value(of: old), try StateEncoder().value(of: new))
        #expect(Patch(from: before, to: after).encode().count <= 30 * 36)
    }

    @Test func `The patch of an array is found if everything changed on each level`() throws {
        func tree(_ levels: Int, _ width: Int, from leaf: inout Int) -> Value {
            leaf += 1
            return levels == 0 ? Value(leaf) : .array((0..<width).map { _ in tree(levels - 1, width, from: &leaf) })
        }
        var (first, second) = (0, 1_000_000)
        let (old, new) = (tree(6, 7, from: &first), tree(6, 8, from: &second))
        var value = old
        try Patch(from: old, to: new).apply(to: &value)
        #expect(value == new)
    }

    @Test func `The patch of an array replaces numbers that all changed`() throws {
        let (old, new) = ((0..<1000).map(Double.init), (0..<1000).map { Double($0) + 0.1 })
        let patch = try checkLaws(from: old, to: new)
        #expect(try patch == .replace(StateEncoder().value(of: new)))
        // A changed range between unchanged numbers is one splice.
        let part = try checkLaws(from: old, to: Array(old[..<300] + new[300..<400] + old[400...]))
        #expect(part.encode().count <= 100 * 9 + 10)
    }

    @Test func `The patch of an array replaces an array of which nothing stayed`() throws {
        #expect(try checkLaws(from: [1, 2, 3], to: [7, 8, 9, 10]).description == "[[7,8,9,10]]")
        #expect(try checkLaws(from: [1, 2, 3], to: []).description == "[[]]")
    }

    @Test func `The patch of an array with many changes among few elements is no longer than the array`() throws {
        let (old, new) = (Array(0..<20), Array(0..<20).map { $0 % 2 == 0 ? $0 : -$0 })
        let patch = try checkLaws(from: old, to: new)
        #expect(try patch.encode().count <= StateEncoder().encode(new).count + 6)
    }

    @Test
    func `The patch of an array of many small elements, every other one changed, is no longer than the array`() throws {
        var generator = SeededGenerator(seed: 1)
        let (old, new) = (
            (0..<2000).map { _ in generator.below(2) == 0 }, (0..<2001).map { _ in generator.below(2) == 0 }
        )
        let patch = try checkLaws(from: old, to: new)
        #expect(try patch.encode().count <= StateEncoder().encode(new).count + 10)
    }

    /// Counts the comparisons of its elements.
    struct Compared: Codable, Equatable {
        @TaskLocal static var count = Kept(0)

        var number: Int

        static func == (left: Compared, right: Compared) -> Bool {
            count.value += 1
            return left.number == right.number
        }
    }

    @Test func `A patch of many scattered changes of an array needs a bounded number of comparisons`() throws {
        var generator = SeededGenerator(seed: 3)
        let old = (0..<4000).map { _ in Compared(number: generator.below(50)) }
        let new = (0..<4100).map { _ in Compared(number: generator.below(50)) }
        try Compared.$count.withValue(Kept(0)) {
            _ = try Differ.patch(from: old, to: new)
            #expect(Compared.count.value <= 6 * (old.count + new.count) + 4096)
        }
        try checkLaws(from: old, to: new)
    }

    @Test func `The patch of an array is empty for equal arrays with elements that differ from themselves`() throws {
        let old = [Double.nan, 1, .nan, 2, .nan, .nan, .nan, .nan, .nan, 3]
        #expect(try Differ.patch(from: old, to: old).isEmpty)
        var new = old
        new.removeLast()
        let difference = try Differ.patch(from: old, to: new)
        #expect(difference.patch.description == "[9,1,[]]")
    }
}

/// Random edits of arrays. A failure shows the seed.
@Suite struct `The patches of random edits of an array` {
    typealias Todo = `The patch of an array`.Todo

    @Test(arguments: seeds(0..<250))
    func `The patches of random edits of an array obey the laws, and are proportional to the edits`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var todos = (0..<generator.below(201)).map { Todo($0) }
        let first = todos
        var composed = Patch.none
        for round in 1...4 {
            let old = todos
            let edits = 1 + generator.below(6)
            for edit in 0..<edits { change(&todos, with: Todo(1000 * round + edit), &generator) }
            let patch = try checkLaws(from: old, to: todos)
            // An edit is at most one element at two places, with their indexes.
            #expect(patch.encode().count <= edits * 80)
            composed = composed.composed(with: patch)
        }
        var (typed, tree) = (first, try StateEncoder().value(of: first))
        let all = try Patch(decoding: composed.encode())
        try all.apply(to: &typed)
        #expect(typed == todos)
        try all.apply(to: &tree)
        #expect(try tree == StateEncoder().value(of: todos))
    }

    /// With more changes than the search for a minimal edit allows, it ends without a result.
    @Test(arguments: seeds(0..<1000))
    func `The patches of random edits of an array obey the laws where the search is given up`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (kinds, count) = (1 << generator.below(12), 60 + generator.below(140))
        let old = (0..<count).map { _ in generator.below(kinds) }
        let new = (0..<(count + generator.below(3))).map { _ in generator.below(kinds) }
        try checkLaws(from: old, to: new)
    }

    /// Few distinct elements, so that many unrelated elements are equal, and many changes at once.
    @Test(arguments: seeds(0..<250))
    func `The patches of random edits of an array obey the laws where elements repeat`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let kinds = 1 + generator.below(4)
        var numbers = (0..<generator.below(60)).map { _ in generator.below(kinds) }
        for _ in 0..<4 {
            let old = numbers
            for _ in 0..<generator.below(40) {
                switch generator.below(3) {
                case 0: numbers.insert(generator.below(kinds), at: generator.below(numbers.count + 1))
                case 1 where !numbers.isEmpty: numbers.remove(at: generator.below(numbers.count))
                default: if !numbers.isEmpty { numbers[generator.below(numbers.count)] = generator.below(kinds) }
                }
            }
            let patch = try checkLaws(from: old, to: numbers)
            // For longer arrays, a replacement is considered only if there is a splice for every few elements.
            if numbers.count <= 64 { #expect(try patch.encode().count <= StateEncoder().encode(numbers).count + 6) }
            try checkLaws(from: old.map { $0 == 0 ? nil : [$0] }, to: numbers.map { $0 == 0 ? nil : [$0] })
            var tree = try StateEncoder().value(of: old)
            let after = try StateEncoder().value(of: numbers)
            try Patch(from: tree, to: after).apply(to: &tree)
            #expect(tree == after)
        }
    }

    private func change(_ todos: inout [Todo], with new: Todo, _ generator: inout SeededGenerator) {
        switch generator.below(6) {
        case 0: todos.insert(new, at: generator.below(todos.count + 1))
        case 1 where !todos.isEmpty: todos.remove(at: generator.below(todos.count))
        case 2 where !todos.isEmpty: todos[generator.below(todos.count)].done.toggle()
        case 3 where !todos.isEmpty:
            let moved = todos.remove(at: generator.below(todos.count))
            todos.insert(moved, at: generator.below(todos.count + 1))
        case 4 where !todos.isEmpty: todos.removeFirst()
        default: todos.append(new)
        }
    }
}
