#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Threads that nobody waits for.
enum LoopThread {
    /// The same everywhere: user code recurses here (coders do), and macOS would give half a megabyte.
    private static let stackBytes = 8 << 20

    /// The calling thread, as a number that is not 0.
    static var current: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    /// Starts a thread that runs `body` and ends.
    ///
    /// - Throws: `resourcesExhausted`.
    static func start(_ body: @escaping @Sendable () -> Void) throws(ZeroMQError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)

        let start = Unmanaged.passRetained(Start(body: body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let result = pthread_create(&thread, &attributes, Start.enter, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw .failed("cannot start the thread of a poll loop", errno: result)
        }
    }

    /// What a new thread is handed.
    private final class Start {
        private let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        #if canImport(Darwin)
            static let enter: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { pointer in
                Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            }
        #else
            static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
                if let pointer { Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            }
        #endif
    }
}
