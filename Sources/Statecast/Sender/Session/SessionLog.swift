#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file of a session on the disk, locked: records are appended and flushed, and now and then all of them are replaced
/// by one.
///
/// Not safe to share; ``SessionFile`` keeps it behind a lock.
final class SessionLog {
    /// As it was named.
    private let path: String
    /// Where it lies.
    private let place: String
    private var descriptor: Int32
    /// Where the next record goes.
    private(set) var end = SessionHeader.byteCount

    /// Opens a file or makes one, and takes it for this process.
    init(at path: String) throws(StatecastError) {
        self.path = path
        let place = try SessionPlace.open(path)
        (self.place, descriptor) = (place.path, place.descriptor)
    }

    deinit { Self.release(descriptor) }

    // MARK: Reading

    /// What the file holds. Changes nothing.
    func records() throws(StatecastError) -> [[UInt8]] {
        let file = try contents()
        guard let acknowledged = try acknowledged(file) else { return [] }
        do throws(SessionRecords.Damage) {
            let (bodies, end) = try SessionRecords.read(file, acknowledged: acknowledged)
            self.end = end
            return bodies
        } catch { throw damaged(error) }
    }

    /// `nil` if nothing was ever kept in the file.
    private func acknowledged(_ file: [UInt8]) throws(StatecastError) -> Int? {
        do throws(SessionHeader.Fault) { return try SessionHeader.acknowledged(file) } catch {
            switch error {
            case .unwritten: return nil
            case .foreign: throw failure("\(path) is no session file, and is left as it is: name another")
            case .newer:
                throw failure("the session file \(path) was written by a later version of statecast: use that one")
            case .damaged: throw damaged(SessionRecords.Damage(offset: 0, message: "the header cannot be read"))
            }
        }
    }

    func damaged(_ damage: SessionRecords.Damage) -> StatecastError {
        failure(
            "the session file \(path) is damaged at byte \(damage.offset): \(damage.message). Nothing was changed. It cannot be "
                + "told any more which of its actions were applied: look at the store, then begin with another file"
        )
    }

    private func contents() throws(StatecastError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed("cannot read", errno) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { pread(descriptor, $0 + count, buffer.count - count, off_t(count)) } ?? 0
            }
            if result < 0 && errno == EINTR { continue }
            guard result > 0 else { throw failed("cannot read", result < 0 ? errno : EIO) }
            count += result
        }
        return bytes
    }

    // MARK: Writing

    /// Says in the file who has it.
    func announce() throws(StatecastError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed("cannot read", errno) }
        if status.st_size == 0 {
            try write(SessionHeader.bytes(holder: Self.holder, acknowledged: end), at: 0)
        } else {
            try write(Self.holder, at: SessionHeader.holderOffset)
        }
    }

    /// Appends a record; on return the disk has it.
    func append(_ body: [UInt8]) throws(StatecastError) {
        let record = SessionRecords.record(body, at: end)
        try write(record, at: end)
        try flush(descriptor)
        end += record.count
        try write(SessionHeader.mark(end), at: SessionHeader.markOffset)
    }

    /// Puts one record in the place of all; if that fails, everything is as it was. It outlives the system only with
    /// ``flushFolder()``.
    func replace(with body: [UInt8]) throws(StatecastError) {
        guard let draft = SessionDraft(beside: place) else { throw failed("cannot make a file beside", errno) }
        let record = SessionRecords.record(body, at: SessionHeader.byteCount)
        let end = SessionHeader.byteCount + record.count
        let old = descriptor
        descriptor = draft.descriptor
        do throws(StatecastError) {
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw failed("cannot lock a file beside", errno) }
            try write(SessionHeader.bytes(holder: Self.holder, acknowledged: end) + record, at: 0)
            try flush(descriptor)
            guard rename(draft.path, place) == 0 else { throw failed("cannot replace", errno) }
        } catch {
            descriptor = old
            unlink(draft.path)
            close(draft.descriptor)
            throw error
        }
        Self.release(old)
        self.end = end
    }

    /// Removes what an earlier process was writing beside it when it ended.
    func removeLeftovers() { SessionDraft.removeLeftovers(beside: place) }

    /// Waits until the disk knows which file has the name.
    func flushFolder() throws(StatecastError) {
        let folder = place.lastIndex(of: "/").map { place[...$0] } ?? "."
        let other = open(String(folder), O_RDONLY | O_CLOEXEC)
        guard other >= 0 else { throw failed("cannot flush the folder of", errno) }
        defer { close(other) }
        try flush(other)
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(StatecastError) {
        var count = 0
        while count < bytes.count {
            let result = bytes[count...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + count))
            }
            if result < 0 && errno == EINTR { continue }
            guard result > 0 else { throw failed("cannot write", result < 0 ? errno : EIO) }
            count += result
        }
    }

    private func flush(_ descriptor: Int32) throws(StatecastError) {
        #if canImport(Darwin)
            let result = fcntl(descriptor, F_FULLFSYNC)
        #else
            let result = fdatasync(descriptor)
        #endif
        guard result == 0 else { throw failed("cannot write", errno) }
    }

    // MARK: Lock

    private static let holder = SessionHeader.holder(
        getpid(),
        named: CommandLine.arguments.first.map(name) ?? "unnamed"
    )

    private static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "unnamed") }

    /// Not left to the closing: a process that was forked off and is about to become another holds the file for a moment
    /// longer.
    private static func release(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    // MARK: Failures

    private func failure(_ message: String) -> StatecastError { StatecastError(.session, message) }

    private func failed(_ what: String, _ number: Int32) -> StatecastError {
        StatecastError(what, path, number)
    }
}
