import Foundation

/// A file system of its own, which can be filled so that writing to it fails.
struct SmallDisk {
    /// A larger one may have other uses.
    private static let maxBytes: UInt64 = 1 << 30

    private let ballast: String
    private(set) var isFull = false

    init(_ folder: String) throws {
        ballast = folder + "/ballast"
        var (own, parent) = (stat(), stat())
        guard stat(folder, &own) == 0, stat(folder + "/..", &parent) == 0, own.st_dev != parent.st_dev else {
            throw TrialFailure("\(folder) is no file system of its own")
        }
        var status = statvfs()
        guard statvfs(folder, &status) == 0, UInt64(status.f_blocks) * UInt64(status.f_frsize) <= Self.maxBytes else {
            throw TrialFailure("\(folder) has more than \(Self.maxBytes) bytes: it would be filled")
        }
    }

    mutating func fill() throws {
        let descriptor = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TrialFailure("cannot create \(ballast)") }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0, count: 1 << 20)
        // The last block fits only in part.
        while write(descriptor, block, block.count) > 0 {}
        isFull = true
    }

    mutating func free() {
        unlink(ballast)
        isFull = false
    }
}
