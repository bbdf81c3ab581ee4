import Foundation

/// An input that has some lines and does not end as long as this object lives.
final class OpenInput: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: Folder, _ text: String) throws {
        path = folder.path + "/input"
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        let bytes = Array(text.utf8)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else { throw POSIXError(.EIO) }
    }

    deinit { close(descriptor) }
}
