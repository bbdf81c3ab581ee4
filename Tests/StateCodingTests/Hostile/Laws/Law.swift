import StateCoding

/// What the code promised and did not do. Not a failure of the input, which may be anything.
struct BrokenLaw: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Laws that hold for any bytes whatever. Tests and fuzzers check the same ones, with public API only.
///
/// Two values are compared by their encodings, which tell more apart than `==` does.
enum Laws {
    static func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws(BrokenLaw) {
        guard condition else { throw BrokenLaw(promise()) }
    }

    /// The result of work that must not fail here.
    static func must<Result>(_ promise: String, _ body: () throws -> Result) throws(BrokenLaw) -> Result {
        do { return try body() } catch { throw BrokenLaw("\(promise): \(error)") }
    }

    /// The result of work that may fail, as long as it does so with a code.
    static func may<Result>(_ body: () throws(CodingFailure) -> Result) -> Swift.Result<Result, CodingFailure> {
        do throws(CodingFailure) { return .success(try body()) } catch { return .failure(error) }
    }
}
