/// A promise that the code did not keep. The input is not at fault: it may be any bytes.
struct BrokenLaw: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws(BrokenLaw) {
    guard condition else { throw BrokenLaw(promise()) }
}

/// The result of an operation that must not fail.
func must<Result>(_ promise: @autoclosure () -> String, _ body: () throws -> Result) throws(BrokenLaw) -> Result {
    do { return try body() } catch { throw BrokenLaw("\(promise()): \(error)") }
}
