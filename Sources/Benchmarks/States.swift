import Foundation
import Statecast

/// A state of constant size.
struct Marks: Codable, Equatable, Sendable {
    var count = 0
    var last = ""

    static let reducer = Reducer<Marks> { state, action in
        guard let action = action as? Marked else { return }
        state.count += 1
        state.last = action.mark
    }
}

struct Marked: Action {
    let mark: String

    /// An action that has about this size in a frame.
    init(bytes: Int, isRefused: Bool = false) {
        mark = (isRefused ? "r" : "m") + String(repeating: "m", count: max(0, bytes - 18))
    }

    /// The first byte of marks that a policy refuses.
    static let refused = UInt8(ascii: "r")
}

/// Random bytes in rows.
struct Cells: Codable, Equatable, Sendable {
    var cells: Table<Int, Data> = [:]
    var count = 0

    static let reducer = Reducer<Cells> { state, action in
        guard let action = action as? CellWritten else { return }
        state.cells[action.cell] = action.bytes
        state.count += 1
    }
}

struct CellWritten: Action {
    let cell: Int
    let bytes: Data
}

/// A row of several fields, of which an action changes one.
struct Row: Codable, Equatable, Sendable {
    var name: String
    var load = 0.5
    var count = 1

    init(_ index: Int) { name = "row number \(index)" }
}

struct RowChanged: Action {
    let row: Int
}

/// A collection of rows with the keys 0..<count.
protocol RowCollection: Codable, Equatable, Sendable {
    static func rows(_ count: Int) -> Self
    mutating func change(_ row: Int)
}

extension Table<Int, Row>: RowCollection {
    static func rows(_ count: Int) -> Self { Table((0..<count).map { ($0, Row($0)) }) { $1 } }
    mutating func change(_ row: Int) { self[row]?.count += 1 }
}

extension [Int: Row]: RowCollection {
    static func rows(_ count: Int) -> Self { Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, Row($0)) }) }
    mutating func change(_ row: Int) { self[row]?.count += 1 }
}

extension [Row]: RowCollection {
    static func rows(_ count: Int) -> Self { (0..<count).map { Row($0) } }
    mutating func change(_ row: Int) { self[row].count += 1 }
}

struct Rows<Collection: RowCollection>: Codable, Equatable, Sendable {
    var rows: Collection
    var count = 0

    static var reducer: Reducer<Rows> {
        Reducer { state, action in
            guard let action = action as? RowChanged else { return }
            state.rows.change(action.row)
            state.count += 1
        }
    }
}

/// A state that counts the actions that led to it, so that a receiver knows which it shows.
protocol CountingState: Codable, Equatable, Sendable {
    var count: Int { get }
}

extension Marks: CountingState {}
extension Cells: CountingState {}
extension Rows: CountingState {}
