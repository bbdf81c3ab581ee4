internal import Foundation
internal import Journal

/// The lock on a journal's directory: held until it is released, at the latest by the end of the process.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``JournalFailure`` with code `in-use` that names the process which holds it.
    convenience init(_ directory: JournalDirectory) throws(JournalFailure) {
        let descriptor = Self.open(directory)
        guard descriptor >= 0 else { throw directory.failed("cannot open \(directory.lock)", errno) }
        try self.init(descriptor, directory)
    }

    /// For whoever only reads while nobody writes: `nil` where nobody can.
    ///
    /// - Throws: ``JournalFailure`` with code `in-use` that names the process which holds it.
    static func whileReading(_ directory: JournalDirectory) throws(JournalFailure) -> DirectoryLock? {
        var descriptor = Self.open(directory)
        if descriptor < 0, [EROFS, EACCES, EPERM].contains(errno) {
            descriptor = Foundation.open(directory.lock, O_RDONLY | O_CLOEXEC)
            if descriptor < 0, errno == ENOENT { return nil }
        }
        guard descriptor >= 0 else { throw directory.failed("cannot open \(directory.lock)", errno) }
        return try DirectoryLock(descriptor, directory)
    }

    private static func open(_ directory: JournalDirectory) -> Int32 {
        Foundation.open(directory.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    }

    private init(_ descriptor: Int32, _ directory: JournalDirectory) throws(JournalFailure) {
        guard Self.take(descriptor) else {
            let code = errno
            let holder = Self.name(in: descriptor)
            Foundation.close(descriptor)
            guard code == EWOULDBLOCK else { throw directory.failed("cannot lock \(directory.lock)", code) }
            throw JournalFailure(
                .inUse,
                "the journal \(directory.path) is in use by \(holder): stop that, or choose another directory"
            )
        }
        guard Self.isCurrent(descriptor, directory) else {
            Foundation.close(descriptor)
            throw JournalFailure(.inUse, "the journal \(directory.path) was removed just now: try again")
        }
        let name = Array("process \(getpid()) (\(ProcessInfo.processInfo.processName))".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, name, name.count, 0)
        self.descriptor = descriptor
    }

    /// Not left to the closing: a process that was forked off and is about to become another holds the lock for a moment
    /// longer.
    deinit {
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
    }

    /// Whoever only asks who holds it has it for some microseconds: that is waited for.
    private static func take(_ descriptor: Int32) -> Bool {
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK else { return false }
            usleep(1000)
        }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Whether the file that is locked is the one that others will find.
    private static func isCurrent(_ descriptor: Int32, _ directory: JournalDirectory) -> Bool {
        var (locked, found) = (stat(), stat())
        return fstat(descriptor, &locked) == 0 && stat(directory.lock, &found) == 0 && locked.st_ino == found.st_ino
            && locked.st_dev == found.st_dev
    }

    private static func name(in descriptor: Int32) -> String {
        var holder = [UInt8](repeating: 0, count: 256)
        let count = max(0, pread(descriptor, &holder, holder.count, 0))
        return count == 0 ? "another process" : String(decoding: holder.prefix(count), as: UTF8.self)
    }

    /// Who holds it; `nil` if nobody does.
    static func holder(of directory: JournalDirectory) -> String? {
        let descriptor = Foundation.open(directory.lock, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Foundation.close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return name(in: descriptor) }
        flock(descriptor, LOCK_UN)
        return nil
    }
}
