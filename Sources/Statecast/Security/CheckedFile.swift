package import StatecastFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that was read as a whole. It belongs to this process's user or to root, and lacks the permissions that
/// its reader forbids.
package struct CheckedFile {
    package var bytes: [UInt8]
    package let status: FileStatus

    /// - Parameters:
    ///   - kind: what the file is, for messages.
    ///   - forbidden: the permissions of the group and others that the file must not have, of `0o077`.
    ///   - advice: what to do if it has them.
    /// - Throws: ``StatecastError`` with code `keys`. Its cause is a `SystemFailure` if the file could not be read.
    package init(
        readingFileAt path: String,
        _ kind: String,
        maxBytes: Int,
        forbidden: (FileStatus) -> Int,
        advice: String
    ) throws(StatecastError) {
        func refused(_ reason: String) -> StatecastError {
            StatecastError(.keys, "the \(kind) \(path) is not used: \(reason)")
        }
        func failed(_ failure: SystemFailure) -> StatecastError {
            StatecastError(.keys, "the \(kind) \(path) cannot be read: \(failure.reason)", cause: failure)
        }
        let file: OpenFile
        // O_NONBLOCK: opening a pipe may wait for its other end.
        do throws(SystemFailure) { file = try OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) } catch {
            throw failed(error)
        }
        guard let status = FileStatus(file) else { throw failed(SystemFailure("read", path, errno)) }
        guard status.isRegular else { throw refused("it is a folder, a pipe or a device, and no file") }
        guard status.isOwnedByUserOrRoot else {
            throw refused("another user owns it, and can change it: make it this user's or root's")
        }
        guard status.permissions & forbidden(status) == 0 else {
            throw refused("its permissions are 0\(String(status.permissions, radix: 8)): \(advice)")
        }
        do throws(SystemFailure) { bytes = try file.read(maxBytes + 1, at: 0) } catch { throw failed(error) }
        guard bytes.count <= maxBytes else { throw refused("it has more than \(maxBytes) bytes") }
        self.status = status
    }
}
