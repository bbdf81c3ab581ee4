internal import DurableFiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A file that was read as a whole, and its status then.
struct SmallFile {
    let bytes: [UInt8]
    let status: FileStatus

    /// - Parameter kind: what the file is, for messages.
    /// - Throws: ``StatecastError`` with code `keys`.
    init(readingFileAt path: String, _ kind: String, bytesMax: Int) throws(StatecastError) {
        do throws(SystemFailure) {
            // O_NONBLOCK: opening a pipe may wait for its other end.
            let file = try OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            guard let status = FileStatus(file) else { throw SystemFailure("read", path, errno) }
            self.status = status
            bytes = status.isRegular ? try file.read(min(file.byteCount(), bytesMax + 1), at: 0) : []
        } catch {
            throw StatecastError(.keys, "the \(kind) \(path) cannot be read: \(error.reason)", cause: error)
        }
        guard status.isRegular, bytes.count <= bytesMax else {
            throw StatecastError(.keys, "the \(kind) \(path) is no file of at most \(bytesMax) bytes")
        }
    }
}
