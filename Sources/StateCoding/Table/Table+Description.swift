extension Table: CustomStringConvertible, CustomDebugStringConvertible {
    /// The rows as a dictionary shows them, in the order of their keys: `["alpha": 1, "beta": 2]`.
    public var description: String {
        if isEmpty { return "[:]" }
        let rows = tree.map { "\(String(reflecting: $0.key)): \(String(reflecting: $0.element))" }
        return "[" + rows.joined(separator: ", ") + "]"
    }

    /// As `description`.
    public var debugDescription: String { description }
}

extension Table: CustomReflectable {
    /// The rows, as of a dictionary.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: self, displayStyle: .dictionary)
    }
}
