internal import Journal

/// Something that a primary relies on.
struct JournalRule: Sendable {
    /// The place's name.
    let name: String
    /// What is expected, behind "a journal that".
    let promise: String
    /// Throws what came instead.
    let check: @Sendable (JournalPlace) throws -> Void

    static let all = opening + records + snapshots
}

/// What came where something else was expected.
struct JournalSurprise: Error, CustomStringConvertible {
    let description: String
}

/// Insists on a value.
func expect<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) throws {
    guard actual != expected else { return }
    throw JournalSurprise(description: "\(what):\n\n\(difference(expected: expected, actual: actual))")
}

/// Insists on a failure.
func expectFailure(_ what: String, _ code: JournalFailure.Code, _ body: () throws -> some Any) throws {
    let value: Any
    do {
        value = try body()
    } catch let failure as JournalFailure where failure.code == code {
        return
    } catch {
        throw JournalSurprise(description: "\(what): expected a JournalFailure with code \(code), got: \(error)")
    }
    throw JournalSurprise(description: "\(what): expected a JournalFailure with code \(code), got \(dumped(value))")
}
