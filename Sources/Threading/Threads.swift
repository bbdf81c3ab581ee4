#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The system refused to start a thread.
package struct ThreadStartError: Error {
    /// The error number that `pthread_create` returned.
    package let errno: Int32
}

/// Starts and identifies threads.
@usableFromInline
package enum Threads {
    /// Identifies the calling thread. Never 0.
    @usableFromInline
    package static var currentID: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    /// Starts a detached thread that runs `body` and ends.
    package static func start(
        stackBytes: Int,
        _ body: @escaping @Sendable () -> Void
    ) throws(ThreadStartError) {
        var attributes = pthread_attr_t()
        let failure = pthread_attr_init(&attributes)
        guard failure == 0 else { throw ThreadStartError(errno: failure) }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        let main = Unmanaged.passRetained(ThreadMain(body: body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let result = pthread_create(&thread, &attributes, { runThread($0) }, main.toOpaque())
        guard result == 0 else {
            main.release()
            throw ThreadStartError(errno: result)
        }
    }
}

/// The argument of a new thread.
private final class ThreadMain {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadMain>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
