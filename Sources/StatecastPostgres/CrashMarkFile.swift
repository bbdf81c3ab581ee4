import StatecastFiles
import StatecastJournal

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file on this machine that survives the process: it names the action that the process was reducing.
///
/// Unchecked, but safe: only the ``CrashMarker`` uses the page.
final class CrashMarkFile: @unchecked Sendable {
    private let file: OpenFile
    private let page: UnsafeMutableRawPointer
    let marker: CrashMarker

    /// Opens or creates the file, and locks it.
    ///
    /// - Throws: ``JournalFailure`` with code `in-use` or `input-output`.
    init(at path: String) throws(JournalFailure) {
        do throws(SystemFailure) {
            let file = try OpenFile(path, O_RDWR | O_CREAT)
            guard try file.lock() else {
                throw SystemFailure("lock", path, EWOULDBLOCK)
            }
            page = try file.map(CrashMarker.byteCount, isWritable: true)
            self.file = file
            marker = CrashMarker(page: page)
        } catch {
            guard error.code == EWOULDBLOCK else { throw JournalFailure(.inputOutput, "\(error)") }
            throw JournalFailure(.inUse, "another process uses the file \(path): give each node a file of its own")
        }
    }

    deinit { munmap(page, CrashMarker.byteCount) }
}
