/// A variable that copies share. Used by one test at a time.
final class Kept<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
