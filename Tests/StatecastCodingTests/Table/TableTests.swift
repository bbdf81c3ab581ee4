import StatecastCoding
import Testing

@Suite struct `A table` {
    @Test(arguments: UInt64(0)..<10)
    func `A table behaves like a dictionary, in the order of the keys`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (table, model) = (Table<String, Int>(), [String: Int]())
        for step in 0..<2000 {
            let key = "k\(generator.below(300))"
            switch generator.below(8) {
            case 0: #expect(table.updateValue(step, forKey: key) == model.updateValue(step, forKey: key))
            case 1: #expect(table.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 2: table[key, default: 7] += 1; model[key, default: 7] += 1
            case 3: #expect(table[key] == model[key] && table[key, default: -1] == model[key, default: -1])
            case 4: table[key]? *= 2; model[key]? *= 2
            case 5: table[key] = nil; model[key] = nil
            case 6:
                if let index = table.index(forKey: key) {
                    #expect(table[index].value == model[key])
                    #expect(table.remove(at: index) == (key, model.removeValue(forKey: key) ?? -1))
                } else {
                    #expect(model[key] == nil)
                }
            default: table[key] = step; model[key] = step
            }
        }
        #expect(table.keys.elementsEqual(model.keys.sorted()))
        #expect(Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) }) == model)
        #expect(table.first?.key == model.keys.min() && table.last?.key == model.keys.max())
        table.removeAll()
        #expect(table.isEmpty && table.count == 0 && table.first == nil)
    }

    @Test func `A table changes a row in place, so that its arrays are not copied`() {
        var table = Table<Int, [Int]>(uniqueKeysWithValues: (0..<200).map { ($0, Array(0..<100)) })
        func address(_ array: [Int]) -> UnsafeRawPointer? { array.withUnsafeBytes { $0.baseAddress } }
        for key in [0, 100, 199] {
            let before = address(table[key] ?? [])
            table[key]?[5] = -1
            table[key, default: []][6] = -1
            if let index = table.index(forKey: key) { table.values[index][7] = -1 }
            #expect(address(table[key] ?? []) == before)
            #expect(table[key]?[5...7] == [-1, -1, -1])
        }
        let copy = table
        table[100]?[5] = 0
        #expect(copy[100]?[5] == -1 && table[100]?[5] == 0)
    }

    @Test func `A table keeps its rows if a change of a row throws`() {
        struct Failure: Error {}
        func change(_ row: inout [Int]) throws {
            row.append(1)
            throw Failure()
        }
        func drop(_ row: inout [Int]?) throws {
            row = nil
            throw Failure()
        }
        var table: Table<String, [Int]> = ["a": [0], "b": [0]]
        #expect(throws: Failure.self) { try change(&table["a", default: []]) }
        #expect(throws: Failure.self) { try change(&table.values[table.startIndex]) }
        #expect(throws: Failure.self) { try change(&table["c", default: [9]]) }
        #expect(throws: Failure.self) { try drop(&table["b"]) }
        #expect(table == ["a": [0, 1, 1], "c": [9, 1]])
    }

    @Test func `A table is created in all the ways of a dictionary`() {
        #expect(Table(uniqueKeysWithValues: [(2, "b"), (1, "a")]) == [1: "a", 2: "b"])
        #expect(Table([("a", 1), ("b", 2), ("a", 3)], uniquingKeysWith: +) == ["a": 4, "b": 2])
        #expect(Table([("a", 1), ("b", 2), ("b", 5)]) { $1 } == ["a": 1, "b": 5])
        #expect(Table(["x": 1, "y": 2]) == ["y": 2, "x": 1])
        let empty: Table<Int, Int> = [:]
        #expect(empty == Table() && empty.isEmpty)
    }

    @Test func `A table traps at a literal with a duplicate key`() async {
        await #expect(processExitsWith: .failure) {
            let table: Table<String, Int> = ["a": 1, "b": 2, "a": 3]
            print(table)
        }
    }

    @Test func `A table is transformed like a dictionary`() {
        let table = Table(uniqueKeysWithValues: (0..<1000).map { ($0, "\($0)") })
        #expect(table.mapValues { $0.count }[500] == 3)
        for divisor in [2, 10, 100, 2000] {
            let expected = (0..<1000).filter { $0 % divisor != 0 }
            #expect(table.filter { $0.key % divisor != 0 }.keys.elementsEqual(expected))
        }
        #expect(table.filter { _ in false }.isEmpty)
        let odd = table.filter { key, _ in key % 2 == 1 }
        #expect(odd.keys.first == 1 && odd[3] == "3")
        var merged = table
        merged.merge([(5, "x"), (2000, "y")]) { $0 + $1 }
        #expect(merged[5] == "5x" && merged[2000] == "y" && merged.count == 1001)
    }

    @Test func `A table equals and hashes by its rows`() {
        let table = Table(uniqueKeysWithValues: (0..<500).map { ($0, $0) })
        var other = Table(uniqueKeysWithValues: (0..<500).reversed().map { ($0, $0) })
        #expect(table == other && table.hashValue == other.hashValue)
        #expect(Set([table, other]).count == 1)
        other[250] = 0
        #expect(table != other)
        #expect(table.keys == other.keys)
        other[250] = nil
        #expect(table != other && table.keys != other.keys)
    }

    @Test func `A table is described like a dictionary`() {
        let table: Table<String, Int?> = ["b": 2, "a": nil]
        #expect("\(table)" == #"["a": nil, "b": Optional(2)]"#)
        #expect(String(reflecting: table) == "\(table)")
        #expect("\(Table<Int, Int>())" == "[:]")
        let mirror = Mirror(reflecting: table)
        #expect(mirror.displayStyle == .dictionary && mirror.children.count == 2)
        #expect(mirror.children.first.map { "\($0.value)" } == #"(key: "a", value: nil)"#)
    }

    @Test func `A table is a value that tasks may share`() async {
        let table = Table(uniqueKeysWithValues: (0..<2000).map { ($0, [$0]) })
        let sums = await withTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var mine = table
                    for key in 0..<2000 { mine[key]?.append(task) }
                    for key in 0..<1000 { mine[key * 2] = nil }
                    return mine.values.reduce(0) { $0 + $1.reduce(0, +) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums.sorted() == (0..<4).map { 1_000_000 + 1000 * $0 })
        #expect(table.count == 2000 && table.values.allSatisfy { $0.count == 1 })
    }
}
