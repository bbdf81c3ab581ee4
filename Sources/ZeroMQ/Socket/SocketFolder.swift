#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A new folder for the socket file of `ipc://*`, open to this user only, removed when nobody holds it any more.
///
/// libzmq would make one in the working folder unless the environment names another, and leave it there.
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
