import Testing

@testable import StatecastCoding

typealias IntTree = SortedTree<AscendingOrder<Int>, Int>

extension SortedTree {
    /// The tree of unsorted entries.
    init(any entries: some Sequence<(Key, Payload)>) {
        self.init()
        for (key, element) in entries { updateValue(element, forKey: key) }
    }
}

extension IntTree {
    static func ascending(_ count: Int) -> IntTree {
        var builder = SortedTreeBuilder<AscendingOrder<Int>, Int>(count: count)
        for key in 0..<count { builder.append(unchecked: key, key) }
        return builder.finish()
    }
}

/// Nodes of all widths, and trees of one to four levels.
let treeSizes = [0, 1, 2, 4, 5, 16, 31, 32, 33, 63, 64, 65, 100, 1023, 1024, 1025, 1056, 1057, 5000, 33_000]

@Suite struct `A sorted tree` {
    @Test(arguments: seeds(0..<20))
    func `A sorted tree behaves like a dictionary, and its copies stay unchanged`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let keys = [8, 40, 200, 3000][generator.below(4)]
        var (tree, model) = (IntTree(), [Int: Int]())
        var kept: [(IntTree, [Int: Int])] = []
        for step in 0..<4000 {
            let key = generator.below(keys)
            // Grows and shrinks alternately, so that nodes split and join.
            let grows = step / 700 % 2 == 0
            switch generator.below(10) {
            case 0: #expect(tree[key] == model[key])
            case 1:
                tree[key]? += 1
                model[key]? += 1
            case 2...6 where grows, 2:
                #expect(tree.updateValue(step, forKey: key) == model.updateValue(step, forKey: key))
            case 3: tree[key] = step; model[key] = step
            case 4 where !tree.isEmpty:
                let removed = tree.remove(at: generator.below(tree.count))
                #expect(model.removeValue(forKey: removed.key) == removed.element)
            case 5:
                tree[key] = nil
                model[key] = nil
            default:
                if !grows { #expect(tree.removeValue(forKey: key) == model.removeValue(forKey: key)) }
            }
            if generator.below(200) == 0 { kept.append((tree, model)) }
        }
        kept.append((tree, model))
        for (tree, model) in kept { expectSame(tree, model) }
    }

    @Test(arguments: seeds(0..<40))
    func `A sorted tree updates keys in any order near the last one, and its copies stay unchanged`(
        seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        let count = treeSizes[generator.below(treeSizes.count)] % 5000
        var (tree, model) = (IntTree.ascending(count), Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, $0) }))
        let kept = (tree, model)
        let ascends = generator.below(3) > 0
        var key = 0
        for step in 0..<200 {
            var left = generator.below(20)
            tree.update {
                guard left > 0 else { return false }
                left -= 1
                key = ascends ? (key + generator.below(7)) % (count + 50) : generator.below(count + 50)
                $0.initialize(to: key)
                return true
            } change: { key, element in
                #expect(element == model[key])
                element = step
                model[key] = step
            } insert: { key in
                #expect(model.updateValue(step, forKey: key) == nil)
                return step
            }
            tree[key] = nil
            model[key] = nil
        }
        expectSame(tree, model)
        expectSame(kept.0, kept.1)
    }

    @Test(arguments: treeSizes) func `A sorted tree is built from sorted entries with full nodes`(count: Int) {
        let tree = IntTree.ascending(count)
        expectSame(tree, Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, $0) }))
        #expect(tree.leafCount == (count + 31) / 32)
        var grown = IntTree()
        for key in 0..<count { grown.insert(key, key) }
        #expect(Array(grown.map(\.key)) == Array(0..<count))
        #expect(grown.leafCount == (count + 31) / 32)
    }

    @Test func `A sorted tree reports unsorted and duplicate keys`() {
        var builder = SortedTreeBuilder<AscendingOrder<Int>, Int>()
        let taken = [1, 5, 5, 4, 6].map { builder.append($0, 0) }
        #expect(taken == [true, true, false, false, true])
        #expect(builder.finish().map(\.key) == [1, 5, 6])
    }

    @Test(arguments: treeSizes)
    func `A sorted tree finds the offset of each key and the key at each offset`(count: Int) {
        let tree = IntTree(any: (0..<count).map { ($0 * 2, $0) })
        for offset in stride(from: 0, to: count, by: max(1, count / 100)) {
            #expect(tree.entry(at: offset) == (offset * 2, offset))
            #expect(tree.position(of: offset * 2) == (offset, true))
            #expect(tree.position(of: offset * 2 + 1) == (offset + 1, false))
        }
    }

    @Test func `A sorted tree keeps few nodes after most entries are removed`() {
        var generator = SeededGenerator(seed: 7)
        var tree = IntTree.ascending(20_000)
        while tree.count > 500 { tree.remove(at: generator.below(tree.count)) }
        #expect(tree.leafCount <= 70)
        while tree.count > 0 { tree.remove(at: generator.below(tree.count)) }
        #expect(tree.rootIdentity == nil)
    }

    @Test(arguments: [false, true]) func `A sorted tree joins a narrow leaf with either neighbour`(fromTheRight: Bool) {
        var tree = IntTree.ascending(64)
        let stretches = [0..<24, 32..<56]
        for key in (fromTheRight ? stretches.reversed() : stretches).joined() { tree[key] = nil }
        #expect(tree.leafCount == 1)
        #expect(tree.map(\.key) == Array(24..<32) + Array(56..<64))
    }

    @Test func `A sorted tree finds a key before the first one of a node after that node was joined`() {
        // Two nodes of 32 leaves each. The first leaf of the second is removed, and one of its keys is inserted again.
        var tree = IntTree.ascending(2048)
        for key in 1024..<1056 { tree[key] = nil }
        tree[1030] = 1030
        for key in Array(0..<800) + Array(1312..<2048) { tree[key] = nil }
        #expect(tree.root?.level == 1)
        let keys = Array(800..<1024) + [1030] + Array(1056..<1312)
        #expect(tree.map(\.key) == keys)
        #expect(keys.allSatisfy { tree[$0] == $0 })
    }

    @Test(arguments: [1, 20, 5000]) func `A sorted tree copies only what another copy still uses`(count: Int) {
        var tree = IntTree.ascending(count)
        let first = tree.rootIdentity
        tree[0] = -1
        tree[0]? += 1
        tree.updateValue(5, forKey: count - 1)
        #expect(tree.rootIdentity == first)
        let copy = tree
        #expect(copy.isIdentical(to: tree))
        tree[0] = 7
        #expect(!copy.isIdentical(to: tree) && copy[0] != 7)
        #expect(copy.rootIdentity == first)
        #expect(tree.sharedLeafCount(with: copy) == max(0, tree.leafCount - 1))
    }

    @Test func `A sorted tree stays in bounds with keys whose order is contradictory`() {
        var generator = SeededGenerator(seed: 1)
        var tree = SortedTree<AscendingOrder<Double>, Int>()
        var copies = [tree]
        for step in 0..<3000 {
            let key = generator.below(3) == 0 ? Double.nan : Double(generator.below(500))
            switch generator.below(4) {
            case 0: tree.removeValue(forKey: key)
            case 1: tree.insert(key, step)
            default: tree[key] = step
            }
            if step % 100 == 0 { copies.append(tree) }
        }
        #expect(Array(tree).count == tree.count)
        for copy in copies {
            SortedTree.differences(from: copy, to: tree) { _, _, _ in }
            SortedTree.differences(from: tree, to: copy) { _, _, _ in }
        }
        while !tree.isEmpty { tree.remove(at: generator.below(tree.count)) }
    }

    private func expectSame(_ tree: IntTree, _ model: [Int: Int]) {
        let expected = model.sorted { $0.key < $1.key }
        #expect(tree.count == expected.count)
        #expect(tree.map(\.key) == expected.map(\.key))
        #expect(tree.map(\.element) == expected.map(\.value))
        for (key, element) in model where tree[key] != element { Issue.record("\(key) is not found") }
    }
}

extension SortedTree {
    fileprivate var leafCount: Int { leaves.count }
    fileprivate var rootIdentity: ObjectIdentifier? { root.map { ObjectIdentifier($0) } }

    fileprivate func sharedLeafCount(with other: SortedTree) -> Int { leaves.intersection(other.leaves).count }

    private var leaves: Set<ObjectIdentifier> { root?.leaves ?? [] }
}

extension TreeNode {
    fileprivate var leaves: Set<ObjectIdentifier> {
        if level == 0 { return [ObjectIdentifier(self)] }
        return (0..<width).reduce(into: []) { $0.formUnion(branches[$1].node.leaves) }
    }
}
