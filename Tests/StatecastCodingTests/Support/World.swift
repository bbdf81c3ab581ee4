/// A state with every kind of field that the differ distinguishes.
struct World: Codable, Equatable {
    var name = "world"
    var count = 0
    var ratio = 0.5
    var flag: Bool?
    var maybe: Int??
    var mode = Mode.idle
    var rows: [String: Row] = [:]
    var labels: [Int: String?] = [:]
    var byKind: [Kind: [Int]] = [:]
    var tags: Set<String> = []
    var log: [Int] = []
    var list: [Row] = []
    var gaps: [Int?] = []
    var blob: [UInt8] = []
    var pair = Pair(first: 1, second: "x")
    var nested: Row?
}

struct Row: Codable, Equatable {
    var title = ""
    var load = 0.0
    var notes: [String] = []
    var inner: [String: Int] = [:]
}

enum Mode: Codable, Equatable {
    case idle
    case live(since: Int, row: Row)
    case ended(Int)
}

enum Kind: String, Codable { case red, green, blue }

/// Encodes itself in an unkeyed container.
struct Pair: Codable, Equatable {
    var first: Int
    var second: String

    init(first: Int, second: String) {
        self.first = first
        self.second = second
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        first = try container.decode(Int.self)
        second = try container.decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(first)
        try container.encode(second)
    }
}

extension SeededGenerator {
    mutating func row() -> Row {
        var row = Row(title: pick(Self.texts), load: pick(Self.numbers.filter { !$0.isNaN }))
        row.notes = (0..<below(3)).map { _ in pick(Self.texts) }
        row.inner = Dictionary((0..<below(3)).map { ("k\($0)", below(9)) }) { first, _ in first }
        return row
    }

    /// Changes one to three parts.
    mutating func change(_ world: inout World) {
        for _ in 0...below(3) { changeOne(&world) }
    }

    private mutating func changeOne(_ world: inout World) {
        switch below(17) {
        case 0: world.name = pick(Self.texts)
        case 1: world.count = Int(truncatingIfNeeded: next())
        case 2: world.ratio = pick(Self.numbers.filter { !$0.isNaN })
        case 3: world.flag = pick([true, false, nil])
        case 4: world.maybe = pick([Int??.none, .some(nil), 4])
        case 5: world.mode = pick([.idle, .ended(below(2)), .live(since: below(2), row: row())])
        case 6: world.rows[pick(Self.texts)] = row()
        case 7: world.rows[pick(Self.texts)] = nil
        case 8: if let key = world.rows.keys.sorted().first { world.rows[key]?.notes.append(pick(Self.texts)) }
        case 9: world.labels.updateValue(pick(["a", nil]), forKey: below(5) - 2)
        case 10: world.byKind[pick([.red, .green, .blue]), default: []].append(below(9))
        case 11: if world.tags.remove(pick(Self.texts)) == nil { world.tags.insert(pick(Self.texts)) }
        case 12:
            world.log.append(below(3))
            if world.log.count > 4 { world.log.removeFirst() }
        case 13:
            if world.list.isEmpty { world.list = [row(), row()] } else { world.list[below(world.list.count)] = row() }
        case 14: world.gaps.insert(pick([1, nil]), at: below(world.gaps.count + 1))
        case 15:
            world.blob.append(UInt8(below(256)))
            world.pair.first += 1
        default: world.nested = pick([nil, row()])
        }
    }
}
