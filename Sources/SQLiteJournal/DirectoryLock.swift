internal import Foundation
internal import Journal

/// The lock on a journal's directory: held until it is released, at the latest by the end of the process.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``JournalFailure`` with code `in-use` that names the process which holds it.
    init(_ directory: JournalDirectory) throws(JournalFailure) {
        let descriptor = Foundation.open(directory.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw directory.failed("cannot open \(directory.lock)", errno) }
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
