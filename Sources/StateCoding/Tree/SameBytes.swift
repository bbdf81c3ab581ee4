#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Whether two values consist of the same bytes, and are therefore the same: an unchanged copy of a text or a
/// collection refers to the same memory. Others may be equal, too.
///
/// Comparing the bytes takes a tenth of the time of most `==`, for which both values are copied first.
@inline(__always)
func haveSameBytes<T>(_ left: UnsafePointer<T>, _ right: UnsafePointer<T>) -> Bool {
    memcmp(left, right, MemoryLayout<T>.size) == 0
}
