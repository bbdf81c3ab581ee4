/// Where the fields come from that another build did not write.
///
/// A field outside of all collections has one place in the state, and comes from the initial state. A field of a row has
/// as many as there are rows, and comes from a row that stands for all of its type.
package struct FieldDefaults: Sendable {
    private let initial: Value
    private var rows: [ObjectIdentifier: [Value]] = [:]

    /// - Throws: `unencodable`, ... if the initial state or a row cannot be encoded.
    package init(initial: some Encodable, rows: [any Encodable]) throws(CodingFailure) {
        self.initial = try StateEncoder().value(of: initial)
        for row in rows { self.rows[ObjectIdentifier(type(of: row)), default: []].append(try Self.tree(row)) }
    }

    private static func tree(_ row: some Encodable) throws(CodingFailure) -> Value {
        try StateEncoder().value(of: row)
    }

    /// What stands at a path in the initial state.
    func initial(at path: some Sequence<String>) -> Value? { initial.descendant(path) }

    /// What stands at a path in the rows of a type; of several, as for the cases of an enum, the first that has it.
    func row(of type: Any.Type, at path: some Sequence<String>) -> Value? {
        guard let rows = rows[ObjectIdentifier(type)] else { return nil }
        for row in rows { if let value = row.descendant(path) { return value } }
        return nil
    }
}

extension Value {
    fileprivate func descendant(_ path: some Sequence<String>) -> Value? {
        var value = self
        for component in path {
            while case .tagged(_, let content) = value { value = content }
            guard let next = value[component] else { return nil }
            value = next
        }
        return value
    }
}
