import StateCoding
import Testing

/// Random edits of arrays, whose seed a failure shows.
@Suite struct `The patches of random edits of an array` {
    typealias Todo = `The patch of an array`.Todo

    @Test(arguments: seeds(0..<250)) func `keep the laws and follow the edits`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var todos = (0..<generator.below(201)).map { Todo($0) }
        let first = todos
        var composed = Patch.none
        for round in 1...4 {
            let old = todos
            let edits = 1 + generator.below(6)
            for edit in 0..<edits { change(&todos, with: Todo(1000 * round + edit), &generator) }
            let patch = try checkLaws(from: old, to: todos)
            // An edit is one element at most, at two places, with what says where.
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

    /// Few different elements, so that much looks the same that is not; and much that changes at once.
    @Test(arguments: seeds(0..<250)) func `keep the laws where elements repeat`(seed: UInt64) throws {
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
            // Beyond, only a splice for every few elements has the whole array considered.
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
