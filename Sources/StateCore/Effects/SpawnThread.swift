#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What each spawned thread has for its stack: hundreds of them must fit.
private let stackBytes = 512 * 1_024

/// What a new thread is handed.
private final class ThreadMain {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Starts a thread that nobody waits for. Says whether the system gave one.
@Sendable
func spawnThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let main = Unmanaged.passRetained(ThreadMain(body))
    #if canImport(Darwin)
        var thread: pthread_t?
        let result = pthread_create(&thread, &attributes, { runThread($0) }, main.toOpaque())
    #else
        var thread = pthread_t()
        let result = pthread_create(&thread, &attributes, { runThread($0) }, main.toOpaque())
    #endif
    if result != 0 { main.release() }
    return result == 0
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadMain>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
