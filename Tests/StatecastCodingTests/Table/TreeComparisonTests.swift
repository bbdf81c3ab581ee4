import Testing

@testable import StatecastCoding

@Suite struct `The differences of two trees` {
    @Test(arguments: seeds(0..<30))
    func `The differences of two trees are those of two dictionaries, at the cost of the change`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let size = [50, 2000, 20_000][generator.below(3)]
        var tree = IntTree.ascending(size)
        // Earlier changes, so that nodes have split and joined in irregular places.
        churn(&tree, size, by: &generator)
        for touched in [0, 1, 3, 50] {
            let old = tree
            for _ in 0..<touched { generator.change(&tree, below: size * 2) }
            expectDifferences(from: old, to: tree, touched: touched)
            expectDifferences(from: tree, to: old, touched: touched)
        }
    }

    @Test(arguments: UInt64(0)..<10)
    func `The differences of two trees are found where nodes of a whole range have split or joined`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let old = IntTree(any: (0..<20_000).map { ($0 * 100, $0) })
        var tree = old
        let start = generator.below(19_000)
        if generator.below(2) == 0 {
            for key in 0..<500 { tree[(start * 100) + key * 7 + 1] = key }
        } else {
            for key in start..<(start + 500) { tree[key * 100] = nil }
        }
        expectDifferences(from: old, to: tree, touched: 500, maxSteps: 1500)
        expectDifferences(from: tree, to: old, touched: 500, maxSteps: 1500)
    }

    @Test func `The differences of two trees skip shared nodes between whole nodes of new keys`() {
        let old = IntTree(any: (0..<8000).map { ($0 * 10_000, $0) })
        var new = old
        for stretch in 0..<8 {
            for key in 1...2000 { new[stretch * 10_000_000 - 5000 + key] = key }
        }
        expectDifferences(from: old, to: new, touched: 16_000, maxSteps: 16_000 + 8 * 256)
    }

    @Test(arguments: treeSizes)
    func `The differences of two trees of trees without shared nodes are all entries, each once`(count: Int) {
        let (old, new) = (IntTree.ascending(count), IntTree(any: (0..<count).map { ($0 * 3 / 2, $0) }))
        expectDifferences(from: old, to: new, touched: count)
        expectDifferences(from: old, to: IntTree(), touched: count)
    }

    @Test func `The differences of two trees end with the error that the visitor throws`() {
        struct Stop: Error, Equatable {}
        #expect(throws: Stop()) {
            try IntTree.differences(from: IntTree(), to: .ascending(3)) { (_, _, _) throws(Stop) in throw Stop() }
        }
    }

    @Test func `The differences of two trees determine whether two trees are equal`() {
        let tree = IntTree.ascending(3000)
        var other = tree
        #expect(tree.isEqual(to: other, by: ==))
        other[1500] = -1
        #expect(!tree.isEqual(to: other, by: ==))
        other[1500] = 1500
        #expect(!tree.isIdentical(to: other) && tree.isEqual(to: other, by: ==))
        #expect(tree.isEqual(to: IntTree(any: tree.reversed().map { ($0.key, $0.element) }), by: ==))
        other[1500] = nil
        #expect(!tree.isEqual(to: other, by: ==))
        other[-1] = 1500
        #expect(!tree.isEqual(to: other, by: ==))
    }

    private func churn(_ tree: inout IntTree, _ size: Int, by generator: inout SeededGenerator) {
        for _ in 0..<(size * 2) { generator.change(&tree, below: size * 2) }
    }

    private func expectDifferences(from old: IntTree, to new: IntTree, touched: Int, maxSteps: Int? = nil) {
        let model = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.element) })
        let newModel = Dictionary(uniqueKeysWithValues: new.map { ($0.key, $0.element) })
        var patched = model
        var (last, isSorted) = (Int.min, true)
        var comparison = TreeComparison(from: old, to: new, by: ==)
        comparison.run { key, oldElement, newElement in
            let (before, after) = (oldElement?.pointee, newElement?.pointee)
            isSorted = isSorted && last < key
            last = key
            if before == after { Issue.record("\(key) is visited, though its elements are equal") }
            if model[key] != before || newModel[key] != after {
                Issue.record("\(key): \(before as Any) \(after as Any)")
            }
            patched[key] = after
        }
        #expect(isSorted)
        #expect(patched == newModel)
        // A change copies one node of 32 a level.
        #expect(comparison.steps <= maxSteps ?? 1 + touched * (Int(old.root?.level ?? 0) + 1) * 32 * 3 / 2)
    }
}

extension SeededGenerator {
    /// Sets, changes or removes one entry.
    fileprivate mutating func change(_ tree: inout IntTree, below bound: Int) {
        let key = below(bound)
        switch below(3) {
        case 0: tree[key] = nil
        case 1: tree[key]? += 1
        default: tree[key] = below(1000)
        }
    }
}
