import StatecastCoding
import Testing

@Suite struct `The rows of a table` {
    @Test(arguments: treeSizes.dropLast(2))
    func `The rows of a table are a collection that obeys the laws of collections`(count: Int) {
        let table = Table(uniqueKeysWithValues: (0..<count).map { ($0 * 2, "\($0)") })
        expectLaws(table) { $0.key == $1.key && $0.value == $1.value }
        expectLaws(table.keys, ==)
        expectLaws(table.values, ==)
        #expect(table.reversed().map(\.key) == (0..<count).reversed().map { $0 * 2 })
        #expect(table.values.elementsEqual((0..<count).map(String.init)))
    }

    @Test(arguments: treeSizes.dropLast(2)) func `The rows of a table are found by ranges of keys`(count: Int) {
        let table = Table(uniqueKeysWithValues: (0..<count).map { ($0 * 2, $0) })
        var generator = SeededGenerator(seed: UInt64(count))
        for _ in 0..<50 {
            let bounds = [generator.below(count * 2 + 3) - 1, generator.below(count * 2 + 3) - 1].sorted()
            let (low, high) = (bounds[0], bounds[1])
            let keys = Array(table.keys)
            #expect(table.rows(in: low..<high).map(\.key) == keys.filter { (low..<high).contains($0) })
            #expect(table.rows(in: low...high).map(\.key) == keys.filter { (low...high).contains($0) })
            #expect(table.rows(in: low...).count == keys.filter { $0 >= low }.count)
            #expect(table.rows(in: ..<high).count == keys.filter { $0 < high }.count)
            #expect(table.rows(in: ...high).count == keys.filter { $0 <= high }.count)
            #expect(Table(table.rows(in: low..<high)) == table.filter { (low..<high).contains($0.key) })
        }
    }

    @Test func `The rows of a table are changed in place through values`() {
        var table: Table<String, Int> = ["a": 3, "b": 1, "c": 2]
        for index in table.values.indices { table.values[index] *= 10 }
        #expect(table == ["a": 30, "b": 10, "c": 20])
        table.values.sort()
        #expect(table == ["a": 10, "b": 20, "c": 30])
        #expect(table.keys.contains("b") && !table.keys.contains("d"))
    }

    private func expectLaws<C: RandomAccessCollection>(
        _ rows: C,
        _ same: (C.Element, C.Element) -> Bool
    ) where C.Index: Hashable {
        let all = Array(rows)
        #expect(rows.count == all.count && rows.isEmpty == all.isEmpty)
        #expect(rows.distance(from: rows.startIndex, to: rows.endIndex) == all.count)
        var (index, offset) = (rows.startIndex, 0)
        while index != rows.endIndex {
            if !same(rows[index], all[offset]) { Issue.record("\(offset) differs by index") }
            let next = rows.index(after: index)
            if rows.index(before: next) != index || !(index < next) { Issue.record("\(offset): after and before") }
            (index, offset) = (next, offset + 1)
        }
        #expect(offset == all.count)
        for start in stride(from: 0, through: all.count, by: max(1, all.count / 7)) {
            let from = rows.index(rows.startIndex, offsetBy: start)
            let isSame = rows[from...].elementsEqual(all[start...], by: same)
            #expect(isSame)
            #expect(rows.index(rows.endIndex, offsetBy: start - all.count) == from)
        }
    }
}
