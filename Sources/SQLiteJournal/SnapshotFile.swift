internal import Foundation
internal import Journal
internal import SyncProtocol

/// A snapshot in a file of its own: written beside the others, in pieces that each go to the disk before the next, so
/// that a commit never waits for much of it.
///
/// Its name says which one it is, and whether a later one replaces it (`.interim.snapshot`). It holds eight bytes
/// `SCSNAP1\n`; sequence, revision, and the lengths of context and state, 8 bytes each, the least significant first; context
/// and state; and the CRC-32C of all that in 4 bytes.
struct SnapshotFile {
    private static let magic = Array("SCSNAP1\n".utf8)
    private static let suffix = ".snapshot"
    private static let interimSuffix = ".interim" + suffix
    static let draftSuffix = suffix + ".draft"
    private static let headerBytes = 40
    private static let pieceBytes = 4 << 20

    private let directory: JournalDirectory
    private let entry: SnapshotEntry
    private let isInterim: Bool

    /// - Parameter isInterim: whether the next snapshot replaces it; `nil`: as it was written.
    init(_ entry: SnapshotEntry, isInterim: Bool? = nil, in directory: JournalDirectory) {
        self.entry = entry
        self.directory = directory
        func exists(_ suffix: String) -> Bool { access(Self.path(of: entry, suffix, in: directory), F_OK) == 0 }
        self.isInterim = isInterim ?? (!exists(Self.suffix) && exists(Self.interimSuffix))
    }

    private var path: String { Self.path(of: entry, isInterim ? Self.interimSuffix : Self.suffix, in: directory) }

    private static func path(of entry: SnapshotEntry, _ suffix: String, in directory: JournalDirectory) -> String {
        "\(directory.snapshotFolder)/\(entry.sequence)-\(entry.revision)\(suffix)"
    }

    static func entry(ofName name: String) -> SnapshotEntry? {
        guard let suffix = [interimSuffix, suffix].first(where: name.hasSuffix) else { return nil }
        let numbers = name.dropLast(suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let sequence = UInt64(numbers[0]), let revision = UInt64(numbers[1]) else {
            return nil
        }
        return SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(revision))
    }

    func write(_ snapshot: JournalSnapshot) throws(JournalFailure) {
        let draft = "\(directory.snapshotFolder)/\(entry.sequence)-\(entry.revision)\(Self.draftSuffix)"
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

    /// Not by mapping it: reading what was cut off meanwhile would end the process.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`, or `pruned` if it is gone.
    func read() throws(JournalFailure) -> JournalSnapshot {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw unreadable("it cannot be read: \(String(cString: strerror(errno)))") }
            throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
        }
        defer { Foundation.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw unreadable("it cannot be read: \(String(cString: strerror(errno)))")
        }
        var checksum = Checksum()
        let header = try read(Self.headerBytes, of: descriptor, &checksum)
        let counts = try counts(in: header, byteCount: Int(status.st_size))
        let context = try read(counts.context, of: descriptor, &checksum)
        let state = try read(counts.state, of: descriptor, &checksum)
        let expected = Self.littleEndian(checksum.value)
        guard try read(4, of: descriptor, &checksum) == expected else { throw unreadable("its checksum is wrong") }
        let sequence = JournalSequence(Self.number(8, in: header))
        let entry = SnapshotEntry(sequence: sequence, revision: Revision(Self.number(16, in: header)))
        guard entry == self.entry else { throw unreadable("it holds revision \(entry.revision)") }
        return JournalSnapshot(entry, context: context, state: state)
    }

    private func counts(in header: [UInt8], byteCount: Int) throws(JournalFailure) -> (context: Int, state: Int) {
        guard header.starts(with: Self.magic) else {
            throw unreadable("it has \(byteCount) bytes, and does not begin like a snapshot")
        }
        let body = byteCount - Self.headerBytes - 4
        let (context, state) = (Self.number(24, in: header), Self.number(32, in: header))
        guard body >= 0, context <= UInt64(body), state == UInt64(body) - context else {
            throw unreadable("it has \(byteCount) bytes, fewer or more than it says")
        }
        return (Int(context), Int(state))
    }

    private func read(
        _ count: Int,
        of descriptor: Int32,
        _ checksum: inout Checksum
    ) throws(JournalFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var offset = 0
        while offset < count {
            let part = bytes.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...].prefix(Self.pieceBytes))
                let part = Foundation.read(descriptor, rest.baseAddress, rest.count)
                checksum.combine(rest.prefix(max(0, part)))
                return part
            }
            if part < 0 && errno == EINTR { continue }
            guard part > 0 else {
                throw unreadable(
                    part == 0 ? "it ends too early" : "it cannot be read: \(String(cString: strerror(errno)))"
                )
            }
            offset += part
        }
        return bytes
    }

    private static func number(_ offset: Int, in header: [UInt8]) -> UInt64 {
        UInt64(littleEndian: header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) })
    }

    /// The size of the file; 0 if it is gone.
    var byteCount: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    func remove() throws(JournalFailure) { try Self.remove(path, directory) }

    /// Removes the snapshots that this one replaces.
    func removeInterim() throws(JournalFailure) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.snapshotFolder)) ?? []
        for name in names where name.hasSuffix(Self.interimSuffix) {
            let other = directory.snapshotFolder + "/" + name
            if other != path { try Self.remove(other, directory) }
        }
    }

    private static func remove(_ path: String, _ directory: JournalDirectory) throws(JournalFailure) {
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
