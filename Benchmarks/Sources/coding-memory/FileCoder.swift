import CodingSubjects
import Foundation

/// A coder whose bytes can be kept in a file.
protocol FileCoder: Coder {
    func write(_ bytes: Bytes, to file: String) throws
    func read(_ file: String) throws -> Bytes
}

extension FoundationJSON: FileCoder {
    func write(_ bytes: Data, to file: String) throws { try bytes.write(to: URL(fileURLWithPath: file)) }

    func read(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }
}

extension Statecast: FileCoder {
    func write(_ bytes: [UInt8], to file: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: file)) }

    /// Without a `Data` in between: what the allocator has once freed, it reuses.
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
