import CStatecastSodium

/// Memory for a secret: it is in no core dump, is not swapped if the system permits that, is surrounded by pages that
/// end the process when they are touched, and is overwritten when the last reference to it is gone (libsodium's
/// `sodium_malloc`).
///
/// Unchecked, but safe: nothing writes to it between `init` and `deinit`.
package final class SecretMemory: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - byteCount: at least 1.
    ///   - fill: writes the secret over zero bytes.
    package init(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        Sodium.isReady
        guard let start = sodium_malloc(byteCount) else { fatalError("no memory for a secret of \(byteCount) bytes") }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        fill(bytes)
        sodium_mprotect_readonly(start)
    }

    deinit { sodium_free(bytes.baseAddress) }

    /// Calls a closure with the secret. It must not keep the pointer, and should not copy the bytes.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Overwrites bytes that are not needed any more. The optimizer does not remove it, as it may an assignment.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }
}
