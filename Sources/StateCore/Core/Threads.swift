#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Lets other threads run, the longer the more pressing it is.
///
/// - Parameter pressure: 1 to 64. A few yields do while the line moves; where it does not, 50 microseconds each.
@usableFromInline
func holdBack(for pressure: Int) {
    if pressure <= 16 {
        for _ in 0..<pressure { sched_yield() }
    } else {
        usleep(UInt32(pressure) * 50)
    }
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
