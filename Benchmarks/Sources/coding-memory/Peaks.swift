import CodingSubjects
import Measuring

/// The most memory that encoding takes besides the state, in KiB; the bytes included.
func encodingPeak<Rows: VehicleRows>(_: Rows.Type, coder: some Coder) throws -> Int {
    let rows = Rows(count: snapshotRows)
    _ = try coder.encode(Rows(count: 10))
    return try withExtendedLifetime(rows) {
        try peak { try coder.encode(rows) }
    }
}

/// The most memory that decoding takes besides the bytes, in KiB; the state included.
func decodingPeak<Rows: VehicleRows>(_: Rows.Type, coder: some FileCoder, file: String) throws -> Int {
    let bytes = try coder.read(file)
    _ = try coder.decode(Rows.self, from: coder.encode(Rows(count: 10)))
    return try withExtendedLifetime(bytes) {
        try peak { try coder.decode(Rows.self, from: bytes) }
    }
}

/// What a coder needs once in a process must have been needed before.
private func peak<Result>(of work: () throws -> Result) rethrows -> Int {
    ResidentMemory.forgetPeak()
    let before = ResidentMemory.kibibytes
    let result = try work()
    return withExtendedLifetime(result) { ResidentMemory.peakKibibytes - before }
}
