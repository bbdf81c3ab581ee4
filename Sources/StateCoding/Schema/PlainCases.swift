/// The cases of an enum without payloads, found out from how it lies in memory.
///
/// Not every enum is `CaseIterable`, and the coding keys that the compiler makes for an enum with payloads never are:
/// there is no other way to learn what may come. Such an enum is one byte; its cases count from 0, and the number
/// behind the last one is the `nil` of an optional (an extra inhabitant, in the words of Swift's ABI).
struct PlainCases<T> {
    let count: Int

    /// - Returns: `nil` for anything else than such an enum of 2 to 255 cases. (With one case it takes no byte, and
    ///   cannot be told from an enum that has none.)
    init?(of type: T.Type) {
        guard MemoryLayout<T>.size == 1, MemoryLayout<T?>.size == 1 else { return nil }
        count = withUnsafeBytes(of: T?.none) { Int($0[0]) }
        // What has parts is a struct, or has payloads that share the byte in an order of their own.
        guard count > 1, Mirror(reflecting: self[0]).children.isEmpty else { return nil }
    }

    /// The case with a number.
    subscript(index: Int) -> T {
        precondition(index >= 0 && index < count, "expected one of \(count) cases, got \(index)")
        return withUnsafeBytes(of: UInt8(index)) { $0.load(as: T.self) }
    }
}
