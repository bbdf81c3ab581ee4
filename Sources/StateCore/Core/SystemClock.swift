#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Timestamp {
    /// The machine's wall clock: what a core gives its reducer for the time unless it is given another clock.
    ///
    /// Not for reducers: they find the time in their ``ActionContext``.
    public static let systemClock: @Sendable () -> Timestamp = {
        // As words, which have 32 bits on some watches: which module the fields of a timespec belong to differs from system
        // to system.
        let wordBytes = MemoryLayout<Int>.size
        return withUnsafeTemporaryAllocation(byteCount: 2 * wordBytes, alignment: wordBytes) { time in
            guard let bytes = time.baseAddress else { return .epoch }
            clock_gettime(CLOCK_REALTIME, bytes.assumingMemoryBound(to: timespec.self))
            let (seconds, nanoseconds) = (time.load(as: Int.self), time.load(fromByteOffset: wordBytes, as: Int.self))
            return Timestamp(milliseconds: Int64(seconds) * 1_000 + Int64(nanoseconds) / 1_000_000)
        }
    }
}
