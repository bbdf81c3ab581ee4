internal import Dispatch

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Slows down a thread that adds requests faster than they are taken.
///
/// In a task it never sleeps: a sleeping thread of the cooperative pool keeps other tasks from running. Another thread
/// than the caller's takes the turns, so a few yields let that one run.
///
/// A thread outside of tasks yields once while the line is short, and sleeps beyond that: where many threads yield in
/// turns, the one that takes the turns gets no more of the processor than each of them.
///
/// - Parameter pressure: 1 to 64. At 1 the thread yields once; beyond, a task yields that many times, and another thread
///   sleeps for 50 microseconds each.
@usableFromInline
func holdBack(for pressure: Int) {
    if pressure == 1 || withUnsafeCurrentTask(body: { $0 != nil }) {
        for _ in 0..<pressure { sched_yield() }
    } else {
        usleep(UInt32(pressure) * 50)
    }
}

/// Runs `body` on a thread of Dispatch.
///
/// Not in a task: the tasks that dispatch may occupy every thread of the cooperative pool, and their requests must still be
/// reduced. A new serial queue gets a thread outside of that pool, of which Dispatch has about 250.
@usableFromInline
func runOnThread(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "statecast.core.turns", qos: .userInitiated).async(execute: body)
}

/// Tells threads apart.
@usableFromInline
func currentThread() -> UInt {
    #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}
