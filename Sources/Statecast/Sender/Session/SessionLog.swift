import StatecastFiles
import StatecastProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The records of a session file on the disk. The file is locked while it is open.
///
/// Not thread-safe: ``SessionFile`` uses it with a lock held.
final class SessionLog {
    /// The path as the user named it, for messages.
    private let name: String
    /// The path without symbolic links: a replacement must take the place of the file, not of a link to it.
    private let path: String
    private var file: OpenFile
    /// The offset of the next record.
    private(set) var end = SessionHeader.byteCount

    /// Opens a file, or creates it, and locks it.
    init(at name: String) throws(StatecastError) {
        self.name = name
        while true {
            let file = try Self.open(name)
            // Another process may have replaced the file between opening and locking.
            guard let path = Self.resolved(name), FileIdentity(path) == FileIdentity(file) else { continue }
            self.path = path
            self.file = file
            return
        }
    }

    private static func open(_ name: String) throws(StatecastError) -> OpenFile {
        let file: OpenFile
        let isLocked: Bool
        do throws(SystemFailure) {
            // O_NONBLOCK: opening a pipe or a device may wait for its other end.
            file = try OpenFile(name, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY)
        } catch { throw failed(error, name) }
        try checkKind(of: file, name)
        do throws(SystemFailure) { isLocked = try file.lock() } catch { throw failed(error, name) }
        guard isLocked else {
            let holder = SessionHeader.holder(in: (try? file.read(SessionHeader.byteCount, at: 0)) ?? [])
            throw StatecastError(
                .session,
                "the session file \(name) is in use by \(holder): stop that process, or name another file"
            )
        }
        return file
    }

    private static func checkKind(of file: borrowing OpenFile, _ name: String) throws(StatecastError) {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw failed(SystemFailure("read", name, errno), name) }
        let type = status.st_mode & S_IFMT
        guard type == S_IFREG else {
            let kind = type == S_IFIFO ? "a pipe" : "a device"
            throw StatecastError(
                .session,
                "\(name) is no session file but \(kind): name a session file, or a path at which there is no file"
            )
        }
        guard status.st_nlink <= 1 else {
            throw StatecastError(
                .session,
                "the session file \(name) has \(status.st_nlink) names (hard links), and would be replaced under one "
                    + "of them "
                    + "only: remove the others"
            )
        }
    }

    private static func resolved(_ name: String) -> String? {
        guard let text = realpath(name, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    // MARK: Reading

    /// The bodies of the file's records. Changes nothing.
    func records() throws(StatecastError) -> [[UInt8]] {
        let bytes: [UInt8]
        do throws(SystemFailure) { bytes = try file.read(file.byteCount(), at: 0) } catch { throw failed(error) }
        let acknowledged: Int
        do throws(SessionHeader.Fault) { acknowledged = try SessionHeader.acknowledged(bytes) } catch {
            switch error {
            case .unwritten: return []
            case .foreign:
                throw StatecastError(.session, "\(name) is no session file, and is left unchanged: name another file")
            case .newer:
                throw StatecastError(
                    .session,
                    "the session file \(name) was written by a later version of statecast: use that version"
                )
            case .damaged: throw damaged(at: 0, "the header cannot be read")
            }
        }
        do throws(SessionRecords.Damage) {
            let (bodies, end) = try SessionRecords.read(bytes, acknowledged: acknowledged)
            self.end = end
            return bodies
        } catch { throw damaged(at: error.offset, error.message) }
    }

    func damaged(at offset: Int, _ message: String) -> StatecastError {
        StatecastError(
            .session,
            "the session file \(name) is damaged at byte \(offset): \(message). Nothing was changed. Which of its "
                + "actions were "
                + "applied is unknown: look at the store, then begin with another file"
        )
    }

    // MARK: Writing

    /// Notes in the file which process has it open.
    func announce() throws(StatecastError) {
        do throws(SystemFailure) {
            if try file.byteCount() == 0 {
                try file.write(SessionHeader.bytes(acknowledged: end)[...], at: 0)
            } else {
                try file.write(SessionHeader.holder[...], at: SessionHeader.holderOffset)
            }
        } catch { throw failed(error) }
    }

    /// Appends a record; durable on return. After a failure, it is in the file only if it cannot be removed.
    func append(_ body: [UInt8]) throws(SaveFailure) {
        let record = SessionRecords.record(body, at: end)
        do throws(SystemFailure) {
            try file.write(record[...], at: end)
            try file.sync()
            try acknowledge(end + record.count)
            end += record.count
        } catch { throw SaveFailure(failed(error).message, mayBeSaved: !isTruncated()) }
    }

    private func acknowledge(_ count: Int) throws(SystemFailure) {
        try file.write(SessionHeader.acknowledgedBytes(count)[...], at: SessionHeader.acknowledgedOffset)
    }

    /// Removes what is after the last record.
    ///
    /// - Returns: whether that is durable.
    private func isTruncated() -> Bool {
        do throws(SystemFailure) {
            // A file that ends before its acknowledged bytes is damaged.
            try acknowledge(end)
            try file.truncate(to: end)
            try file.sync()
            return true
        } catch { return false }
    }

    /// Replaces all records by one; if that fails, the file is unchanged. Durable after ``syncFolder()``.
    func replace(with body: [UInt8]) throws(StatecastError) {
        let record = SessionRecords.record(body, at: SessionHeader.byteCount)
        let end = SessionHeader.byteCount + record.count
        let bytes = SessionHeader.bytes(acknowledged: end) + record
        do throws(SystemFailure) {
            file = try OpenFile.replace(path, through: temporaryPath(), O_RDWR | O_EXCL) { file throws(SystemFailure) in
                guard try file.lock() else { throw SystemFailure("lock", file.path, EWOULDBLOCK) }
                try file.write(bytes[...], at: 0)
                try file.sync()
            }
        } catch { throw failed(error) }
        self.end = end
    }

    /// Waits until the replacement of the file is durable.
    func syncFolder() throws(StatecastError) {
        do throws(SystemFailure) { try OpenFile.syncFolder(folderAndName.folder) } catch { throw failed(error) }
    }

    // MARK: Temporary files

    // Named `.NAME.0123456789abcdef.draft`. Only the process that has the session file locked creates or removes them.
    private static let digitCount = 16
    private static let suffix = ".draft"

    private func temporaryPath() -> String {
        let (folder, name) = folderAndName
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        let digits = String(repeating: "0", count: Self.digitCount - number.count) + number
        return "\(folder).\(name).\(digits)\(Self.suffix)"
    }

    /// Removes the temporary files of processes that ended while they replaced the session file.
    func removeTemporaryFiles() {
        let (folder, name) = folderAndName
        // If the folder cannot be listed, they stay, which is harmless.
        guard let listing = opendir(folder) else { return }
        defer { closedir(listing) }
        let (prefix, digits) = (".\(name).", Set("0123456789abcdef"))
        while let entry = readdir(listing) {
            let other = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            guard other.hasPrefix(prefix), other.hasSuffix(Self.suffix) else { continue }
            let number = other.dropFirst(prefix.count).dropLast(Self.suffix.count)
            if number.count == Self.digitCount, number.allSatisfy(digits.contains) { unlink(folder + other) }
        }
    }

    /// The folder with its slash, and the name in it.
    private var folderAndName: (folder: String, name: String) {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return (String(path[..<start]), String(path[start...]))
    }

    // MARK: Failures

    private func failed(_ failure: SystemFailure) -> StatecastError { Self.failed(failure, name) }

    private static func failed(_ failure: SystemFailure, _ name: String) -> StatecastError {
        StatecastError(.session, "cannot \(failure.action) the session file \(name): \(failure.reason)")
    }
}
