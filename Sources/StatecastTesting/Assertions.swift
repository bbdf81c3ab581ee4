import StatecastCore

#if Testing
    import CustomDump
    import IssueReporting
#else
    #error("StatecastTesting needs the trait Testing of the package statecast, which is on by default.")
#endif

/// The line of a test that asserts something: the place of an issue.
struct CallSite {
    let fileID: StaticString
    let filePath: StaticString
    let line: UInt
    let column: UInt

    /// Fails the running test, be it one of Swift Testing or of XCTest.
    func report(_ issue: String) {
        reportIssue(issue, fileID: fileID, filePath: filePath, line: line, column: column)
    }
}

/// Describes how an actual value differs from the expected one, line by line.
func describeDifference<Value>(expected: Value, actual: Value) -> String {
    guard let lines = diff(expected, actual, format: .proportional) else {
        // Only their `==` distinguishes them, for example by a field that a dump does not show.
        return "Both have the same dump, but are not equal:\n\n\(dumped(actual))"
    }
    return "\(lines)\n\n(\u{2212} expected, + actual)"
}

/// Compares two actions by `==` if their type has it, by their fields otherwise.
func isSame(_ left: any Action, _ right: any Action) -> Bool {
    guard type(of: left) == type(of: right) else { return false }
    if let left = left as? any Equatable { return left.isEqual(to: right) }
    return dumped(left) == dumped(right)
}

/// A value with all its fields, as text.
func dumped(_ value: Any) -> String {
    var text = ""
    customDump(value, to: &text)
    return text
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { self == other as? Self }
}
