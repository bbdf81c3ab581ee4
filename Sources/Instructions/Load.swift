import Foundation
import StatecastCoding
import StatecastCore
import StatecastThreading

/// A state and the actions that change it.
protocol Load {
    associatedtype State: Codable & Equatable & Sendable
    associatedtype Input: Action

    static var state: State { get }
    static var reducer: Reducer<State> { get }
    /// The action of a number, which no other number has.
    static func action(_ number: Int) -> Input
}

/// Actions of about 100 bytes, and a state that contains the last one.
enum MarkLoad: Load {
    static var state: Marks { Marks() }

    static let reducer = Reducer<Marks>(of: Marked.self) { state, action in
        state.count += 1
        state.last = action.mark
    }

    static func action(_ number: Int) -> Marked { Marked(mark: text(number, bytes: 90)) }
}

struct Marks: Codable, Equatable, Sendable {
    var count = 0
    var last = ""
}

struct Marked: Action {
    let mark: String
}

/// Actions that replace 100 bytes in a table of 10,000 rows.
enum RowLoad: Load {
    private static let rowsCount = 10_000
    /// Consecutive actions change rows that are far from each other, and each row gets its turn.
    private static let step = 7919

    static var state: Rows { Rows(rows: Table(uniqueKeysWithValues: (0..<rowsCount).map { ($0, Row(text: "")) })) }

    static let reducer = Reducer<Rows>(of: RowReplaced.self) { state, action in
        state.rows[action.row]?.text = action.text
    }

    static func action(_ number: Int) -> RowReplaced {
        RowReplaced(row: number * step % rowsCount, text: text(number, bytes: 100))
    }
}

struct Rows: Codable, Equatable, Sendable {
    var rows: Table<Int, Row>
}

struct Row: Codable, Equatable, Sendable {
    var text: String
}

struct RowReplaced: Action {
    let row: Int
    let text: String
}

/// Actions that write 100 random bytes into one of 10,000 rows: section 1b of the benchmark.
enum CellLoad: Load {
    private static let rowsCount = 10_000

    static var state: Cells { Cells(cells: Table(uniqueKeysWithValues: (0..<rowsCount).map { ($0, Data()) })) }

    static let reducer = Reducer<Cells>(of: CellWritten.self) { state, action in
        state.cells[action.cell] = action.bytes
        state.count += 1
    }

    static func action(_ number: Int) -> CellWritten {
        var numbers = SplitMix64(seed: UInt64(number))
        let cell = Int(numbers.next() % UInt64(rowsCount))
        return CellWritten(cell: cell, bytes: Data((0..<100).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }))
    }
}

struct Cells: Codable, Equatable, Sendable {
    var cells: Table<Int, Data>
    var count = 0
}

struct CellWritten: Action {
    let cell: Int
    let bytes: Data
}

/// A text of a fixed size that begins with a number.
private func text(_ number: Int, bytes: Int) -> String {
    let digits = String(number)
    return digits + String(repeating: "m", count: bytes - digits.utf8.count)
}
