import StatecastCore
import StatecastFiles
import StatecastJournal
import StatecastProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file of a snapshot.
///
/// Its name has the sequence and the revision, and shows whether a later snapshot replaces it (`.interim.snapshot`). It
/// holds a ``SnapshotHeader``, context and state, and the CRC-32C of all of that in 4 bytes, the least significant
/// first.
struct SnapshotFile {
    private static let suffix = ".snapshot"
    private static let interimSuffix = ".interim" + suffix
    private static let temporarySuffix = suffix + ".draft"
    private static let pieceBytes = 4 << 20

    private let directory: JournalDirectory
    private let entry: SnapshotEntry
    private let isInterim: Bool

    /// - Parameter isInterim: whether the next snapshot replaces it; `nil` looks for the file.
    init(_ entry: SnapshotEntry, isInterim: Bool? = nil, in directory: JournalDirectory) {
        self.entry = entry
        self.directory = directory
        func exists(_ suffix: String) -> Bool { access(Self.path(of: entry, suffix, in: directory), F_OK) == 0 }
        self.isInterim = isInterim ?? (!exists(Self.suffix) && exists(Self.interimSuffix))
    }

    private var path: String { Self.path(of: entry, isInterim ? Self.interimSuffix : Self.suffix, in: directory) }

    /// When it was stored.
    var time: Timestamp? { JournalDirectory.time(path) }

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

    /// Writes the file in pieces and syncs each, so that a commit never waits for many bytes of it.
    func write(_ snapshot: JournalSnapshot) throws(JournalFailure) {
        let parts = [SnapshotHeader(of: snapshot).encoded, snapshot.context, snapshot.state]
        var checksum = Checksum()
        for part in parts { checksum.combine(part) }
        let temporary = Self.path(of: entry, Self.temporarySuffix, in: directory)
        do throws(SystemFailure) {
            _ = try OpenFile.replace(path, through: temporary, O_WRONLY | O_TRUNC) { file throws(SystemFailure) in
                var offset = 0
                for part in parts + [Self.littleEndian(checksum.value)] {
                    for start in stride(from: 0, to: part.count, by: Self.pieceBytes) {
                        let piece = part[start...].prefix(Self.pieceBytes)
                        try file.write(piece, at: offset)
                        try file.sync()
                        offset += piece.count
                    }
                }
            }
        } catch { throw directory.failed(error) }
        try directory.sync(directory.snapshotFolder)
    }

    /// Reads the file without mapping it: access to a part that was truncated meanwhile would end the process.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`, or `pruned` if there is no file.
    func read() throws(JournalFailure) -> JournalSnapshot {
        let file: OpenFile
        do throws(SystemFailure) { file = try OpenFile(path, O_RDONLY) } catch {
            guard error.code == ENOENT else { throw unreadable("it cannot be read: \(error.reason)") }
            throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
        }
        var (offset, checksum) = (0, Checksum())
        let head = try read(SnapshotHeader.byteCount, of: file, &offset, &checksum)
        let header: SnapshotHeader
        do throws(SnapshotHeader.Damage) { header = try SnapshotHeader(decoding: head, fileBytes: byteCount) } catch {
            throw unreadable(error.message)
        }
        let context = try read(header.contextBytes, of: file, &offset, &checksum)
        let state = try read(header.stateBytes, of: file, &offset, &checksum)
        let expected = Self.littleEndian(checksum.value)
        guard try read(SnapshotHeader.checksumByteCount, of: file, &offset, &checksum) == expected else {
            throw unreadable("its checksum is wrong")
        }
        guard header.entry == entry else { throw unreadable("it holds revision \(header.entry.revision)") }
        return JournalSnapshot(entry, context: context, state: state)
    }

    private func read(
        _ count: Int,
        of file: borrowing OpenFile,
        _ offset: inout Int,
        _ checksum: inout Checksum
    ) throws(JournalFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SystemFailure) { bytes = try file.read(count, at: offset) } catch {
            throw unreadable("it cannot be read: \(error.reason)")
        }
        guard bytes.count == count else { throw unreadable("it ends too early") }
        checksum.combine(bytes)
        offset += count
        return bytes
    }

    /// The size of the file; 0 if there is no file.
    var byteCount: Int { JournalDirectory.byteCount(path) }

    // MARK: Removal

    func remove() throws(JournalFailure) { try Self.remove(path, directory) }

    /// Removes the snapshots that this one replaces.
    func removeInterim() throws(JournalFailure) {
        try Self.removeAll(Self.interimSuffix, in: directory, except: path)
    }

    /// Removes files whose writing was interrupted.
    static func removeTemporaryFiles(in directory: JournalDirectory) throws(JournalFailure) {
        try removeAll(temporarySuffix, in: directory)
    }

    private static func removeAll(
        _ suffix: String,
        in directory: JournalDirectory,
        except kept: String? = nil
    ) throws(JournalFailure) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.snapshotFolder)) ?? []
        for name in names where name.hasSuffix(suffix) {
            let path = directory.snapshotFolder + "/" + name
            if path != kept { try remove(path, directory) }
        }
    }

    private static func remove(_ path: String, _ directory: JournalDirectory) throws(JournalFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw directory.failed("cannot remove \(path)", errno) }
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    private func unreadable(_ why: String) -> JournalFailure {
        directory.damaged("the snapshot of revision \(entry.revision) in \(path) is damaged: \(why)")
    }
}
