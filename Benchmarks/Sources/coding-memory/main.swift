import CodingSubjects
import Foundation
import StateCoding

// Prints how many KiB more than before lay in memory at most while a large state was encoded or decoded, once.
// What is encoded, or decoded from, is there before; what comes out of it counts.

let usage = """
    usage: coding-memory encode CODER ROWS          CODER: json, statecast
           coding-memory write  CODER ROWS FILE     ROWS: array, table, dictionary
           coding-memory decode CODER ROWS FILE     from what another process wrote

    """

func run(_ task: String, coder: some FileCoder, rows: String, file: String?) throws -> Bool {
    switch rows {
    case "array": try run(task, [Vehicle].self, coder: coder, file: file)
    case "table": try run(task, Table<String, Vehicle>.self, coder: coder, file: file)
    case "dictionary": try run(task, [String: Vehicle].self, coder: coder, file: file)
    default: false
    }
}

func run<Rows: VehicleRows>(_ task: String, _: Rows.Type, coder: some FileCoder, file: String?) throws -> Bool {
    switch (task, file) {
    case ("encode", nil): print(try encodingPeak(Rows.self, coder: coder))
    case ("write", let file?): try coder.write(coder.encode(Rows(count: snapshotRows)), to: file)
    case ("decode", let file?): print(try decodingPeak(Rows.self, coder: coder, file: file))
    default: return false
    }
    return true
}

let arguments = Array(CommandLine.arguments.dropFirst())
var isUnderstood = false
if arguments.count >= 3 {
    let (task, rows, file) = (arguments[0], arguments[2], arguments.dropFirst(3).first)
    switch arguments[1] {
    case "json": isUnderstood = try run(task, coder: FoundationJSON(), rows: rows, file: file)
    case "statecast": isUnderstood = try run(task, coder: Statecast(), rows: rows, file: file)
    default: break
    }
}
if !isUnderstood {
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
}
