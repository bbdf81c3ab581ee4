internal import CustomDump
internal import StateCore

/// Shows how what came differs from what was expected, line by line.
func difference<Value>(expected: Value, actual: Value) -> String {
    guard let lines = diff(expected, actual, format: .proportional) else {
        // Told apart by their `==` only, such as by a field that a dump does not show.
        return "Both look the same, but are not equal:\n\n\(dumped(actual))"
    }
    return "\(lines)\n\n(\u{2212} expected, + actual)"
}

/// Whether two actions are the same: by `==` where they have one, and by what they are made of where not.
func isSame(_ left: any Action, _ right: any Action) -> Bool {
    guard type(of: left) == type(of: right) else { return false }
    if let left = left as? any Equatable { return left.isEqual(to: right) }
    return dumped(left) == dumped(right)
}

/// A value, written out with all that it is made of.
func dumped(_ value: Any) -> String {
    var text = ""
    customDump(value, to: &text)
    return text
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { self == other as? Self }
}
