import StatecastProtocol

/// Compares engines part by part: an engine contains functions, which cannot be compared.
extension StoreEngine {
    /// The first part in which this engine differs from another one; `nil` if there is none. Functions, which are parts
    /// of the program and of effects, are not compared.
    ///
    /// - Parameter names: parts that are not compared either.
    func difference(from other: StoreEngine, ignoring names: Set<String> = []) -> String? {
        let ignored = names.union(["program"])
        for (left, right) in zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children) {
            guard let name = left.label, !ignored.contains(name) else { continue }
            if let path = PartwiseDifference.find(left.value, right.value, at: name) { return path }
        }
        return nil
    }
}

private enum PartwiseDifference {
    static func find(_ left: Any, _ right: Any, at path: String) -> String? {
        if let left = left as? any Equatable { return isEqual(left, right) ? nil : path }
        let (leftParts, rightParts) = (Mirror(reflecting: left), Mirror(reflecting: right))
        let isSame =
            leftParts.subjectType == rightParts.subjectType
            && leftParts.children.count == rightParts.children.count
        guard isSame else { return path }
        // A case without values, in an enumeration that is not equatable.
        if leftParts.displayStyle == .enum, leftParts.children.isEmpty, "\(left)" != "\(right)" { return path }
        for (index, (left, right)) in zip(leftParts.children, rightParts.children).enumerated() {
            let place = "\(path).\(left.label ?? "\(index)")"
            guard left.label == right.label else { return place }
            if let difference = find(left.value, right.value, at: place) { return difference }
        }
        return nil
    }

    private static func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool { right as? Value == left }
}
