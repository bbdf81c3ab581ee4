import Statecast
import StatecastCoding
import StatecastThreading

/// A state type of the simulation.
protocol SimulatedState: Codable, Equatable, Sendable {
    init()
    var ledger: Ledger { get set }
    /// Changes the rest of the state.
    mutating func change(_ bits: UInt64)
    /// A text whose size an action chooses.
    var text: String? { get set }
    static var evolution: StateEvolution { get }
}

extension SimulatedState {
    static var evolution: StateEvolution { StateEvolution() }
}

/// Plain collections, an enumeration and optional fields.
struct PlainState: SimulatedState {
    var ledger = Ledger()
    var text: String?
    private var totals: [String: Int] = [:]
    private var items: [Item] = []
    private var shape = Shape.none

    struct Item: Codable, Hashable, Sendable {
        var weight: Int
        var label: String?
    }

    enum Shape: Codable, Hashable, Sendable {
        case none
        case circle(radius: Int)
        case list([Int])
    }

    mutating func change(_ bits: UInt64) {
        var random = SplitMix64(seed: bits)
        for _ in 0...random.below(2) {
            switch random.below(7) {
            case 0: totals["\(random.below(20))", default: 0] += 1
            case 1: totals["\(random.below(20))"] = nil
            case 2: items.insert(Item(weight: random.below(9)), at: random.below(items.count + 1))
            case 3 where !items.isEmpty: items.remove(at: random.below(items.count))
            case 4 where !items.isEmpty: items[random.below(items.count)].label = random.oneIn(2) ? nil : "x"
            case 5: shape = .circle(radius: random.below(5))
            case 6: shape = random.oneIn(2) ? .none : .list(Array(0..<random.below(4)))
            default: items = Array(items.prefix(20))
            }
        }
    }
}

/// Rows in a table.
struct TableState: SimulatedState {
    var ledger = Ledger()
    var text: String?
    private var rows = Table<Int, Row>()

    struct Row: Codable, Hashable, Sendable {
        var value: Int
        var note: String?
    }

    mutating func change(_ bits: UInt64) {
        var random = SplitMix64(seed: bits)
        let key = random.below(100)
        switch random.below(4) {
        case 0: rows[key] = nil
        case 1: rows[key] = Row(value: random.below(1000))
        default: rows[key, default: Row(value: 0)].value += 1
        }
        if random.oneIn(8) { rows[key]?.note = "note \(random.below(10))" }
    }
}

/// The next version of ``PlainState``: with another field and a migration.
struct NextPlainState: SimulatedState {
    var ledger = Ledger()
    var text: String?
    private var totals: [String: Int] = [:]
    private var counted = 0
    private var level = 3

    mutating func change(_ bits: UInt64) {
        totals["\(bits % 20)", default: 0] += 1
        counted += 1
        level = Int(bits % 7)
    }

    static var evolution: StateEvolution {
        StateEvolution(migrations: [
            { state in
                state["counted"] = Value(state["items"]?.arrayValue?.count ?? 0)
                state["items"] = nil
                state["shape"] = nil
            }
        ])
    }
}

/// A tree whose shape follows from the actions.
struct TreeState: SimulatedState {
    var ledger = Ledger()
    var text: String?
    private var tree = Tree.map([:])

    indirect enum Tree: Codable, Hashable, Sendable {
        case number(Int)
        case text(String)
        case list([Tree])
        case map([String: Tree])
    }

    mutating func change(_ bits: UInt64) {
        var random = SplitMix64(seed: bits)
        for _ in 0...random.below(3) { tree.change(depth: 0, &random) }
    }
}

extension TreeState.Tree {
    private static let (maxDepth, maxChildren) = (4, 6)

    /// A tree that ends at the maximum depth.
    private static func random(depth: Int, _ random: inout SplitMix64) -> Self {
        switch random.below(depth < maxDepth ? 5 : 2) {
        case 0: .number(random.below(1000))
        case 1: .text("t\(random.below(100))")
        case 2: .list((0..<random.below(3)).map { _ in Self.random(depth: depth + 1, &random) })
        default:
            .map(
                (0..<random.below(3)).reduce(into: [:]) { map, _ in
                    map["k\(random.below(10))"] = Self.random(depth: depth + 1, &random)
                }
            )
        }
    }

    /// Changes one place.
    fileprivate mutating func change(depth: Int, _ random: inout SplitMix64) {
        switch self {
        case .list(var children) where !random.oneIn(10):
            let index = random.below(children.count + 1)
            if index == children.count {
                children.insert(.random(depth: depth + 1, &random), at: index)
            } else if children.count >= Self.maxChildren || random.oneIn(4) {
                children.remove(at: index)
            } else {
                children[index].change(depth: depth + 1, &random)
            }
            self = .list(children)
        case .map(var children) where !random.oneIn(10):
            let key = "k\(random.below(10))"
            if children[key] == nil {
                children[key] = .random(depth: depth + 1, &random)
            } else if random.oneIn(4) {
                children[key] = nil
            } else {
                children[key]?.change(depth: depth + 1, &random)
            }
            self = .map(children)
        default: self = .random(depth: depth, &random)
        }
    }
}
