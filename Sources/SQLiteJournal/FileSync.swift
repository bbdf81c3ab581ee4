internal import Foundation

/// Waits until the disk has what was written to a file.
///
/// - Returns: 0, or -1 with `errno` set.
func syncFile(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
        // There fsync leaves it in the cache of the disk.
        return fcntl(descriptor, F_FULLFSYNC)
    #else
        return fdatasync(descriptor)
    #endif
}
