#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Where a session file really lies, open and locked.
struct SessionPlace {
    let descriptor: Int32
    /// Without symbolic links: what replaces the file has to take its place, not that of a link to it.
    let path: String

    /// Opens a file or makes one, and takes it for this process. What is no file is left alone.
    static func open(_ name: String) throws(StatecastError) -> SessionPlace {
        while true {
            // A pipe or a device may otherwise wait for its other end.
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
            let descriptor = systemOpen(name, flags, 0o600)
            guard descriptor >= 0 else { throw StatecastError("cannot open", name, errno) }
            do throws(StatecastError) {
                var status = stat()
                guard fstat(descriptor, &status) == 0 else { throw StatecastError("cannot read", name, errno) }
                try check(status, name)
                try lock(descriptor, name)
                // Whoever had it may have put another in its place meanwhile.
                if let path = resolved(name), isSame(status, path) {
                    return SessionPlace(descriptor: descriptor, path: path)
                }
            } catch {
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    private static func check(_ status: stat, _ name: String) throws(StatecastError) {
        let type = status.st_mode & S_IFMT
        guard type == S_IFREG else {
            let kind = type == S_IFIFO ? "a pipe" : "a device"
            throw StatecastError(
                .session,
                "\(name) is no session file but \(kind): name a file, or a path at which there is nothing yet"
            )
        }
        guard status.st_nlink <= 1 else {
            throw StatecastError(
                .session,
                "the session file \(name) has \(status.st_nlink) names (hard links), and is replaced under one of them alone: "
                    + "remove the others"
            )
        }
    }

    private static func lock(_ descriptor: Int32, _ name: String) throws(StatecastError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
        let code = errno
        guard code == EWOULDBLOCK else { throw StatecastError("cannot lock", name, code) }
        var header = [UInt8](repeating: 0, count: SessionHeader.byteCount)
        let count = max(0, pread(descriptor, &header, header.count, 0))
        let holder = SessionHeader.holder(in: Array(header.prefix(count)))
        throw StatecastError(
            .session,
            "the session file \(name) is in use by \(holder): stop that, or name another file"
        )
    }

    private static func resolved(_ name: String) -> String? {
        guard let text = realpath(name, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    private static func isSame(_ opened: stat, _ path: String) -> Bool {
        var named = stat()
        return stat(path, &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }
}

/// `open(2)`, under a name that no method shadows.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

extension StatecastError {
    /// What could not be done with a session file, and what the system said.
    init(_ what: String, _ path: String, _ number: Int32) {
        self.init(.session, "\(what) the session file \(path): \(String(cString: strerror(number)))")
    }
}
