/// A value made when it is first asked for: a benchmark's process makes only what that benchmark needs.
///
/// For one thread, as a benchmark's subjects are.
final class Lazy<Value> {
    private let make: () -> Value
    private(set) lazy var value = make()

    init(_ make: @escaping () -> Value) {
        self.make = make
    }
}

/// The result of what cannot fail, unless the benchmark itself is wrong.
@inline(__always)
func succeed<Value>(_ body: () throws -> Value) -> Value {
    do { return try body() } catch { fatalError("a benchmark's subject failed: \(error)") }
}
