#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `read(2)`, which a method of a file hides.
private let systemRead = read

/// An open file that closes itself and releases its lock at the end of its lifetime.
///
/// Each call completes or throws: interrupted and partial system calls are continued.
package struct OpenFile: ~Copyable, Sendable {
    package let path: String
    package let descriptor: Int32

    /// Opens a file. If `flags` has `O_CREAT`, a new file is accessible to its user only.
    package init(_ path: String, _ flags: Int32) throws(SystemFailure) {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure("open", path) }
        self.path = path
        self.descriptor = descriptor
    }

    /// Unlocks before closing: a forked process that has not started its program yet still has the descriptor, and with
    /// it the lock.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    // MARK: Lock

    package enum LockMode: Sendable { case exclusive, shared }

    /// Locks the file (`flock`) until ``unlock()`` or the end of this object or process.
    ///
    /// - Returns: `false` if another open file has the lock.
    package func lock(_ mode: LockMode = .exclusive) throws(SystemFailure) -> Bool {
        while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw SystemFailure("lock", path) }
            return false
        }
        return true
    }

    package func unlock() { flock(descriptor, LOCK_UN) }

    // MARK: Content

    package func byteCount() throws(SystemFailure) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemFailure("read", path) }
        return Int(status.st_size)
    }

    /// Reads `count` bytes, or fewer at the end of the file.
    ///
    /// - Parameter offset: `nil`: where the last call without an offset ended, which a pipe has, too.
    package func read(_ count: Int, at offset: Int? = nil) throws(SystemFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var end = 0
        while end < count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
                return offset.map { pread(descriptor, rest.baseAddress, rest.count, off_t($0 + end)) }
                    ?? systemRead(descriptor, rest.baseAddress, rest.count)
            }
            if result < 0 && errno == EINTR { continue }
            guard result >= 0 else { throw SystemFailure("read", path) }
            if result == 0 { break }
            end += result
        }
        bytes.removeSubrange(end...)
        return bytes
    }

    package func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SystemFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let position = off_t(offset + bytes.count - rest.count)
            let result = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, position) }
            if result < 0 && errno == EINTR { continue }
            guard result > 0 else { throw SystemFailure("write", path, result < 0 ? errno : EIO) }
            rest = rest.dropFirst(result)
        }
    }

    /// Removes the bytes from an offset on.
    package func truncate(to count: Int) throws(SystemFailure) {
        guard ftruncate(descriptor, off_t(count)) == 0 else { throw SystemFailure("write", path) }
    }

    /// Waits until the file's content is durable.
    package func sync() throws(SystemFailure) {
        #if canImport(Darwin)
            // On Darwin, fsync leaves the content in the cache of the disk.
            let result = fcntl(descriptor, F_FULLFSYNC)
        #else
            let result = fdatasync(descriptor)
        #endif
        guard result == 0 else { throw SystemFailure("write", path) }
    }

    // MARK: Memory

    /// Maps the first bytes of the file into memory, until `munmap`. What is written there survives the process.
    ///
    /// - Parameter isWritable: makes room for the bytes first: writing to a mapped page without room ends the process.
    /// - Throws: ``SystemFailure`` if the file is too short, and not writable: reading beyond its end would end the
    ///   process.
    package func map(_ byteCount: Int, isWritable: Bool) throws(SystemFailure) -> UnsafeMutableRawPointer {
        if isWritable {
            let code = reserve(byteCount)
            guard code == 0 else { throw SystemFailure("make room for", path, code) }
        } else {
            guard try self.byteCount() >= byteCount else { throw SystemFailure("map", path, EINVAL) }
        }
        let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        guard let page = mmap(nil, byteCount, protection, MAP_SHARED, descriptor, 0), page != MAP_FAILED else {
            throw SystemFailure("map", path)
        }
        return page
    }

    private func reserve(_ byteCount: Int) -> Int32 {
        #if canImport(Darwin)
            return ftruncate(descriptor, off_t(byteCount)) == 0 ? 0 : errno
        #else
            return posix_fallocate(descriptor, 0, off_t(byteCount))
        #endif
    }

    // MARK: Folder

    /// Waits until the names of the files in a folder are durable.
    package static func syncFolder(_ path: String) throws(SystemFailure) {
        let folder = try OpenFile(path, O_RDONLY)
        guard fsync(folder.descriptor) == 0 else { throw SystemFailure("write", path) }
    }

    /// Replaces the file at `path`, or creates it, in one step: writes a temporary file and renames it. The replacement
    /// is durable after ``syncFolder(_:)``.
    ///
    /// If it fails, the file at `path` is unchanged and the temporary file is removed.
    ///
    /// - Parameter write: writes the content and syncs it.
    /// - Returns: the new file.
    package static func replace(
        _ path: String,
        through temporary: String,
        _ flags: Int32,
        _ write: (borrowing OpenFile) throws(SystemFailure) -> Void
    ) throws(SystemFailure) -> OpenFile {
        let file = try OpenFile(temporary, flags | O_CREAT)
        do throws(SystemFailure) {
            try write(file)
            guard rename(temporary, path) == 0 else { throw SystemFailure("replace", path) }
        } catch {
            unlink(temporary)
            throw error
        }
        return file
    }
}

/// The device and inode to which a path or a descriptor leads. No other file can have them while the file is open.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Follows symbolic links; `nil` and `errno` if there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Does not follow a link at `path` itself.
    package init?(unresolved path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init?(_ file: borrowing OpenFile) {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// What a file is, who may access it, and which version of it.
package struct FileStatus: Hashable, Sendable {
    package let isRegular: Bool
    /// Whether this process's user or root owns it. Another owner can change the permissions.
    package let isOwnedByUserOrRoot: Bool
    /// The permissions of the owner, the group and others: `0o777` at most.
    package let permissions: Int
    private let identity: FileIdentity
    private let byteCount: Int64
    /// When its content, permissions or names changed last. Unlike the time of the content, no program can set it.
    private let changed: [Int]

    /// Follows symbolic links; `nil` and `errno` if there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init?(_ file: borrowing OpenFile) {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isOwnedByUserOrRoot = status.st_uid == geteuid() || status.st_uid == 0
        permissions = Int(status.st_mode & 0o777)
        identity = FileIdentity(status)
        byteCount = Int64(status.st_size)
        #if canImport(Darwin)
            changed = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
        #else
            changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        #endif
    }
}

/// A system call that failed.
package struct SystemFailure: Error, Equatable, CustomStringConvertible {
    package let action: String
    package let path: String
    /// The call's `errno`.
    package let code: Int32

    /// Uses the current `errno`.
    init(_ action: String, _ path: String) { self.init(action, path, errno) }

    package init(_ action: String, _ path: String, _ code: Int32) {
        self.action = action
        self.path = path
        self.code = code
    }

    package var reason: String { String(cString: strerror(code)) }
    package var description: String { "cannot \(action) \(path): \(reason)" }
}

/// This process, as another one names it that finds a file locked.
package let processDescription = {
    let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "unnamed"
    return "process \(getpid()) (\(name))"
}()
