import StatecastFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The exclusive claim to the file of an `ipc` endpoint, valid while it is referenced.
///
/// libzmq removes any file at the path before it binds: a live server's socket, which then receives nothing, or a
/// user's file. Two checks prevent that. A locked file, `<path>.lock`, excludes other sockets of this library, without
/// a gap between check and bind; the lock ends with its process, however that ends. And an attempt to connect finds a
/// server that does not use the lock.
final class SocketFileClaim {
    private let path: String
    private let lock: OpenFile
    let folder: SocketFolder?
    private var file: FileIdentity?

    /// - Parameter folder: a folder to remove after the file.
    /// - Throws: `addressInUse`, `addressNotAvailable` if the folder is missing, `permission`.
    init(_ path: String, for endpoint: Endpoint, in folder: SocketFolder?) throws(ZeroMQError) {
        self.path = path
        self.folder = folder
        lock = try Self.lock(path + ".lock", for: endpoint)
        // If this throws, `deinit` removes the lock's file.
        try Self.requireUninhabited(path, for: endpoint)
    }

    deinit {
        // libzmq leaves the file. Remove it only if it is ours: a server that ignores the lock may have replaced it.
        if let file, file == FileIdentity(unresolved: path) { unlink(path) }
        // Remove the lock file while it is locked, so that no process locks a removed file.
        unlink(lock.path)
    }

    /// Records the identity of the bound file, so that `deinit` removes no other.
    func recordFile() { file = FileIdentity(unresolved: path) }

    private static func lock(_ path: String, for endpoint: Endpoint) throws(ZeroMQError) -> OpenFile {
        do throws(SystemFailure) {
            while true {
                let file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
                guard try file.lock() else { break }
                // The previous holder may have removed the file between opening and locking.
                if FileIdentity(file) == FileIdentity(unresolved: path) { return file }
            }
        } catch {
            throw .failed(
                "cannot bind to \(endpoint): cannot \(error.action) its lock \(path.debugDescription)",
                errno: error.code,
                advice: [EMFILE, ENFILE].contains(error.code)
                    ? "close files, or raise the limit of file descriptors"
                    : "the folder must exist and be writable, and the lock be of the same user"
            )
        }
        throw inUse(endpoint)
    }

    private static func requireUninhabited(_ path: String, for endpoint: Endpoint) throws(ZeroMQError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw .failed("cannot bind to \(endpoint)", errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ZeroMQError(
                .addressInUse,
                """
                cannot bind to \(endpoint): there is a file that is no socket, and binding would delete it; move it \
                away, or choose another path
                """
            )
        }
        if try isServed(path, for: endpoint) { throw inUse(endpoint) }
    }

    /// Whether a server listens at a socket file.
    private static func isServed(_ path: String, for endpoint: Endpoint) throws(ZeroMQError) -> Bool {
        let probe = socket(AF_UNIX, streamType, 0)
        guard probe >= 0 else { throw .failed("cannot bind to \(endpoint)", errno: errno) }
        defer { close(probe) }
        // Do not block on a server that is too busy to accept.
        _ = fcntl(probe, F_SETFL, fcntl(probe, F_GETFL) | O_NONBLOCK)
        _ = fcntl(probe, F_SETFD, FD_CLOEXEC)

        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(probe, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return true }
        switch errno {
        case ECONNREFUSED, ENOENT: return false
        case EACCES, EPERM:
            throw .failed(
                "cannot bind to \(endpoint): its socket file belongs to another user",
                errno: errno,
                advice: "choose another path"
            )
        default: return true
        }
    }

    private static func inUse(_ endpoint: Endpoint) -> ZeroMQError {
        ZeroMQError(
            .addressInUse,
            "cannot bind to \(endpoint): another process or socket is bound there; stop it, or choose another path"
        )
    }

    private static var streamType: CInt {
        #if canImport(Glibc)
            CInt(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }
}
/// A new folder for the socket file of `ipc://*`, accessible to this user only, removed after its last reference.
///
/// libzmq itself would create one in the working folder unless the environment names another, and leave it there.
final class SocketFolder {
    let path: String

    /// - Throws: `permission`, `addressNotAvailable` if the folder for temporary files is missing.
    init() throws(ZeroMQError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/statecast-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .failed(
                "cannot make a folder for ipc://* in \(parent.debugDescription)",
                errno: errno,
                advice: "set TMPDIR to a folder that is writable"
            )
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { rmdir(path) }
}
