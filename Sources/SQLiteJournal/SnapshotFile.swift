internal import Foundation
internal import Journal
internal import SyncProtocol

/// A snapshot in a file of its own: written beside the others, in pieces that each go to the disk before the next, so
/// that a commit never waits for much of it.
///
/// Its name says which one it is. It holds eight bytes `SCSNAP1\n`; sequence, revision, and the lengths of context and
/// state, 8 bytes each, the least significant first; context and state; and the CRC-32C of all that in 4 bytes.
struct SnapshotFile {
    private static let magic = Array("SCSNAP1\n".utf8)
    private static let suffix = ".snapshot"
    private static let headerBytes = 40
    private static let pieceBytes = 4 << 20

    private let directory: JournalDirectory
    private let entry: SnapshotEntry

    init(_ entry: SnapshotEntry, in directory: JournalDirectory) {
        self.entry = entry
        self.directory = directory
    }

    private var path: String {
        "\(directory.snapshotFolder)/\(entry.sequence)-\(entry.revision)\(Self.suffix)"
    }

    static func entry(ofName name: String) -> SnapshotEntry? {
        guard name.hasSuffix(suffix) else { return nil }
        let numbers = name.dropLast(suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let sequence = UInt64(numbers[0]), let revision = UInt64(numbers[1]) else {
            return nil
        }
        return SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(revision))
    }

    func write(_ snapshot: JournalSnapshot) throws(JournalFailure) {
        let draft = path + ".draft"
        do throws(JournalFailure) {
            try write(snapshot, to: draft)
            guard rename(draft, path) == 0 else { throw directory.failed("cannot rename \(draft)", errno) }
            try sync(directory.snapshotFolder)
        } catch {
            unlink(draft)
            throw error
        }
    }

    private func write(_ snapshot: JournalSnapshot, to path: String) throws(JournalFailure) {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw directory.failed("cannot write \(path)", errno) }
        defer { Foundation.close(descriptor) }
        var checksum = Checksum()
        for part in [header(of: snapshot), snapshot.context, snapshot.state] {
            checksum.combine(part)
            try write(part, to: descriptor)
        }
        try write(Self.littleEndian(checksum.value), to: descriptor)
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) throws(JournalFailure) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes { rest in
                Foundation.write(descriptor, rest.baseAddress, min(Self.pieceBytes, rest.count))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw directory.failed("cannot write \(path)", errno) }
            guard syncFile(descriptor) == 0 else { throw directory.failed("cannot write \(path)", errno) }
            offset += count
        }
    }

    private func sync(_ folder: String) throws(JournalFailure) {
        let descriptor = Foundation.open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw directory.failed("cannot open \(folder)", errno) }
        defer { Foundation.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw directory.failed("cannot write \(folder)", errno) }
    }

    /// - Throws: ``JournalFailure`` with code `damaged`.
    func read() throws(JournalFailure) -> JournalSnapshot {
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe) } catch {
            throw unreadable("it cannot be read: \(error.localizedDescription)")
        }
        return try data.withUnsafeBytes { bytes in Result { () throws(JournalFailure) in try parse(bytes) } }.get()
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws(JournalFailure) -> JournalSnapshot {
        guard bytes.count >= Self.headerBytes + 4, bytes.starts(with: Self.magic) else {
            throw unreadable("it has \(bytes.count) bytes, and does not begin like a snapshot")
        }
        func number(at offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let body = bytes.count - Self.headerBytes - 4
        let (contextCount, stateCount) = (number(at: 24), number(at: 32))
        guard contextCount <= UInt64(body), stateCount == UInt64(body) - contextCount else {
            throw unreadable("it has \(bytes.count) bytes, fewer or more than it says")
        }
        var checksum = Checksum()
        checksum.combine(bytes.dropLast(4))
        guard bytes.suffix(4).elementsEqual(Self.littleEndian(checksum.value)) else {
            throw unreadable("its checksum is wrong")
        }
        let entry = SnapshotEntry(sequence: JournalSequence(number(at: 8)), revision: Revision(number(at: 16)))
        guard entry == self.entry else { throw unreadable("it holds revision \(entry.revision)") }
        let contextEnd = Self.headerBytes + Int(contextCount)
        return JournalSnapshot(
            entry,
            context: Array(bytes[Self.headerBytes..<contextEnd]),
            state: Array(bytes[contextEnd..<(bytes.count - 4)])
        )
    }

    /// The size of the file; 0 if it is gone.
    var byteCount: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    func remove() throws(JournalFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw directory.failed("cannot remove \(path)", errno) }
    }

    private func header(of snapshot: JournalSnapshot) -> [UInt8] {
        let numbers = [
            entry.sequence.rawValue, entry.revision.rawValue, UInt64(snapshot.context.count),
            UInt64(snapshot.state.count),
        ]
        return Self.magic + numbers.flatMap(Self.littleEndian)
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    private func unreadable(_ why: String) -> JournalFailure {
        directory.damaged("the snapshot of revision \(entry.revision) in \(path) is not whole: \(why)")
    }
}
