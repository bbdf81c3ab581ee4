public import CStatecastPlatform
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
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
    @inlinable
    package static var currentID: UInt { statecast_thread_id() }

    /// Yields the processor to threads that are ready to run.
    @usableFromInline
    package static func yield() { sched_yield() }

    /// How the system shares the processors between threads.
    package enum Priority: Sendable {
        case normal
        /// Runs while others are idle, and otherwise gets a tenth of the time of a normal thread.
        case low
    }

    /// Runs `body` on a thread of its own, or on one of Dispatch if the system refuses to start a thread.
    ///
    /// A thread of Dispatch has a stack of the system's size, 512 KiB on macOS. While the system refuses Dispatch a
    /// thread, too, the caller waits: nothing of a Swift program goes on then.
    package static func run(
        name: String,
        stackBytes: Int,
        priority: Priority = .normal,
        _ body: @escaping @Sendable () -> Void
    ) {
        do { try start(name: name, stackBytes: stackBytes, priority: priority, body) } catch {
            DispatchQueue.global().async(execute: body)
        }
    }

    /// Starts a detached thread that runs `body` and ends.
    ///
    /// - Parameter name: for debuggers and `top -H`. Linux keeps its first 15 bytes.
    package static func start(
        name: String,
        stackBytes: Int,
        priority: Priority = .normal,
        _ body: @escaping @Sendable () -> Void
    ) throws(ThreadStartError) {
        var attributes = pthread_attr_t()
        let failure = pthread_attr_init(&attributes)
        guard failure == 0 else { throw ThreadStartError(errno: failure) }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        let main = Unmanaged.passRetained(ThreadMain(name: name, priority: priority, body: body))
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
    private let name: String
    private let priority: Threads.Priority
    private let body: @Sendable () -> Void

    init(name: String, priority: Threads.Priority, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.priority = priority
        self.body = body
    }

    func run() {
        setName()
        if priority == .low { lowerPriority() }
        body()
    }

    private func lowerPriority() {
        #if canImport(Darwin)
            pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
        #elseif canImport(Glibc)
            // On Linux, of the calling thread alone.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        #elseif canImport(Musl)
            setpriority(PRIO_PROCESS, 0, 10)
        #endif
    }

    private func setName() {
        #if canImport(Darwin)
            pthread_setname_np(name)
        #else
            statecast_name_thread(name)
        #endif
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadMain>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
