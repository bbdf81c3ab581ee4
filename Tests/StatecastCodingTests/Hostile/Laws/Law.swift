import StatecastCoding

/// A promise that the code did not keep. The input is not at fault: it may be any bytes.
struct BrokenLaw: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Laws that hold for any bytes. Tests and fuzzers check the same laws, with public API only.
///
/// Values are compared by their encodings, which distinguish more than `==` does.
enum Laws {
    static func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws(BrokenLaw) {
        guard condition else { throw BrokenLaw(promise()) }
    }

    /// The result of an operation that must not fail.
    static func must<Result>(_ promise: String, _ body: () throws -> Result) throws(BrokenLaw) -> Result {
        do { return try body() } catch { throw BrokenLaw("\(promise): \(error)") }
    }

    /// The result of an operation that may fail, but only with a coding failure.
    static func may<Result>(_ body: () throws(CodingFailure) -> Result) -> Swift.Result<Result, CodingFailure> {
        do throws(CodingFailure) { return .success(try body()) } catch { return .failure(error) }
    }
}
