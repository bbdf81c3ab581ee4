import StatecastFiles
import StatecastThreading

/// Where an access list comes from: a file, or a simulation.
package protocol AccessSource: Sendable {
    /// The last list that could be used. Safe on any thread.
    var list: AccessList { get }
    /// Reads the list again if it has changed. One caller at a time; it blocks.
    ///
    /// - Parameter always: also if it seems not to have changed.
    func refresh(always: Bool) -> AccessFile.Refresh
}

/// The file of an access list, which is read again when it has changed. A list that cannot be used does not replace the
/// one before.
package final class AccessFile: AccessSource {
    private let path: String
    private let fault: @Sendable (AccessList) -> String?
    private let content: Locked<Content>

    private struct Content {
        var list: AccessList
        /// Of the file that was judged last, also if its list is not used; `nil` if it could not be read.
        var status: FileStatus?
        /// Whether the last attempt to read the file found a list that can be used.
        var isCurrent = true
    }

    /// Reads the file.
    ///
    /// - Parameter fault: why a list is not used; `nil` if it is.
    /// - Throws: ``StatecastError`` with code `keys`: the file cannot be read, others can write to it, a line is wrong,
    ///   or the list has a fault.
    package init(
        readingFileAt path: String,
        fault: @escaping @Sendable (AccessList) -> String? = { _ in nil }
    ) throws(StatecastError) {
        self.path = path
        self.fault = fault
        let (list, status) = try Self.read(path, fault)
        content = Locked(Content(list: list, status: status))
    }

    package var list: AccessList { content.withLock { $0.list } }

    /// What ``refresh(always:)`` found.
    package enum Refresh: Sendable {
        case unchanged
        /// The list was replaced by this one, which may be the same after a failure.
        case replaced(AccessList)
        /// The list stays, since the file cannot be used. Reported once for each version of the file, and again for
        /// each failure to read it.
        case failed(StatecastError)
    }

    package func refresh(always: Bool = false) -> Refresh {
        let status = FileStatus(path)
        guard always || status == nil || status != content.withLock({ $0.status }) else { return .unchanged }
        do throws(StatecastError) {
            // Without the lock: it takes long.
            let (list, status) = try Self.read(path, fault)
            let old = content.withLock { content in
                defer { content = Content(list: list, status: status) }
                return content
            }
            return list == old.list && old.isCurrent ? .unchanged : .replaced(list)
        } catch {
            // A file that could not be read, such as without a free descriptor, is tried again.
            let judged = error.cause is SystemFailure ? nil : status
            content.withLock { ($0.status, $0.isCurrent) = (judged, false) }
            return .failed(error)
        }
    }

    /// The maximum size of a list: some hundred thousand keys.
    private static let maxBytes = 64 << 20

    /// Why a primary does not use a list: an empty list is a file that is being written.
    static func faultOfPrimary(_ list: AccessList) -> String? {
        list.keys.isEmpty ? "it contains no key; to deny all access, stop the primary" : nil
    }

    private static func read(
        _ path: String,
        _ fault: (AccessList) -> String?
    ) throws(StatecastError) -> (AccessList, FileStatus) {
        let file = try CheckedFile(
            readingFileAt: path,
            "access list",
            maxBytes: maxBytes,
            forbidden: { _ in 0o022 },
            advice: "other users can change it, and could add their own keys: run chmod go-w on it"
        )
        func refused(_ reason: String, cause: (any Error)? = nil) -> StatecastError {
            StatecastError(.keys, "the access list \(path) is not used: \(reason)", cause: cause)
        }
        guard let text = String(validating: file.bytes, as: UTF8.self) else { throw refused("it is no text in UTF-8") }
        let list: AccessList
        do throws(AccessListError) { list = try AccessList(parsing: text) } catch {
            throw refused("\(error)", cause: error)
        }
        if let fault = fault(list) { throw refused(fault) }
        return (list, file.status)
    }
}
