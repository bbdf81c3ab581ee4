import CodingSubjects
import Foundation
import Measuring
import StatecastCoding

/// A coder that stores its bytes in a file.
private protocol FileCoder: Coder {
    func write(_ bytes: Bytes, to file: String) throws
    func read(_ file: String) throws -> Bytes
}

extension FoundationJSON: FileCoder {
    func write(_ bytes: Data, to file: String) throws { try bytes.write(to: URL(fileURLWithPath: file)) }

    func read(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }
}

extension Statecast: FileCoder {
    func write(_ bytes: [UInt8], to file: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: file)) }

    /// Without a temporary `Data`, whose freed memory the allocator would reuse.
    func read(_ file: String) throws -> [UInt8] {
        guard let stream = fopen(file, "r") else { throw CocoaError(.fileReadNoSuchFile) }
        defer { fclose(stream) }
        fseek(stream, 0, SEEK_END)
        let count = ftell(stream)
        rewind(stream)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = fread(buffer.baseAddress, 1, count, stream)
        }
    }
}

/// The peak memory of encoding in KiB, with the bytes but without the state.
private func encodingPeak<Rows: VehicleRows>(_: Rows.Type, coder: some Coder) throws -> Int {
    let rows = Rows(count: snapshotRows)
    _ = try coder.encode(Rows(count: 10))
    return try withExtendedLifetime(rows) {
        try peak { try coder.encode(rows) }
    }
}

/// The peak memory of decoding in KiB, with the state but without the bytes.
private func decodingPeak<Rows: VehicleRows>(_: Rows.Type, coder: some FileCoder, file: String) throws -> Int {
    let bytes = try coder.read(file)
    _ = try coder.decode(Rows.self, from: coder.encode(Rows(count: 10)))
    return try withExtendedLifetime(bytes) {
        try peak { try coder.decode(Rows.self, from: bytes) }
    }
}

/// Call it after the coder's first use, which allocates memory that stays.
private func peak<Result>(of work: () throws -> Result) rethrows -> Int {
    ResidentMemory.forgetPeak()
    let before = ResidentMemory.kibibytes
    let result = try work()
    return withExtendedLifetime(result) { ResidentMemory.peakKibibytes - before }
}

// Prints the peak growth of resident memory in KiB while a large state is encoded or decoded once. The input is in
// memory before; the output counts.

let usage = """
    usage: coding-memory encode CODER ROWS          CODER: json, statecast
           coding-memory write  CODER ROWS FILE     ROWS: array, table, dictionary
           coding-memory decode CODER ROWS FILE     reads a file that another process wrote

    """

private func run(_ task: String, coder: some FileCoder, rows: String, file: String?) throws -> Bool {
    switch rows {
    case "array": try run(task, [Vehicle].self, coder: coder, file: file)
    case "table": try run(task, Table<String, Vehicle>.self, coder: coder, file: file)
    case "dictionary": try run(task, [String: Vehicle].self, coder: coder, file: file)
    default: false
    }
}

private func run<Rows: VehicleRows>(_ task: String, _: Rows.Type, coder: some FileCoder, file: String?) throws -> Bool {
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
