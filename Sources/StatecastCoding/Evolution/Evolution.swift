extension StateDecoder {
    /// Decodes a value that another build wrote, and loses nothing of it.
    ///
    /// A required field that is missing is filled. Costs one decoding pass per missing field of a type, not per row.
    ///
    /// - Throws: `unknownKey` for a field that no type decodes; `missingKey` for one that has no default; and the
    ///   errors of `decode(_:from:)`.
    package func decode<T: Decodable>(
        _ type: T.Type,
        from value: Value,
        filling defaults: FieldDefaults
    ) throws(CodingFailure) -> T {
        let bytes = value.encoded
        let evolution = Evolution(defaults)
        while true {
            do throws(CodingFailure) {
                let result = try decode(type, from: bytes, evolution)
                if let lost = evolution.lost { throw lost }
                return result
            } catch {
                guard evolution.shouldRetry(after: error) else { throw error }
            }
        }
    }

    private func decode<T: Decodable>(
        _ type: T.Type,
        from bytes: [UInt8],
        _ evolution: Evolution
    ) throws(CodingFailure) -> T {
        do {
            return try DecodingSource.run(deterministic: bytes) { source in
                evolution.begin()
                source.delegate = evolution
                defer { source.delegate = nil }
                return try decode(type, from: source)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }
}

/// The defaults of the fields that another build did not write.
///
/// A field outside of all collections has one place in the state, and its default is in the initial state. A field of a
/// row has a default in the row that stands for all rows of its type.
package struct FieldDefaults: Sendable {
    private let initial: Value
    private var rows: [ObjectIdentifier: [Value]] = [:]

    /// - Throws: `unencodable` and others if the initial state or a row cannot be encoded.
    package init(initial: some Encodable, rows: [any Encodable]) throws(CodingFailure) {
        self.initial = try StateEncoder().value(of: initial)
        for row in rows {
            let tree = try StateEncoder().value(of: row)
            self.rows[ObjectIdentifier(type(of: row)), default: []].append(tree)
        }
    }

    /// The value at a path in the initial state.
    fileprivate func initial(at path: some Sequence<String>) -> Value? { initial.descendant(path) }

    /// The value at a path in the rows of a type: the first row that has it, as for the cases of an enum.
    fileprivate func row(of type: Any.Type, at path: some Sequence<String>) -> Value? {
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

/// Watches the reading of a value that another build wrote: fills the fields whose absence makes the reading fail, and
/// finds the fields that no type decodes.
///
/// Fills a field only after its absence caused a failure: a type may tolerate a missing field or try alternatives.
final class Evolution: DecodingDelegate {
    /// A field of a type, wherever values of the type are.
    private struct Field: Hashable {
        let type: ObjectIdentifier
        let name: String
    }

    /// A type whose reading is running.
    private struct Frame {
        let type: Any.Type
        /// The number of keys on the path to it.
        let depth: Int
        /// Whether it is the key of a collection, or a part of one.
        let isKey: Bool
        /// The first unknown field that was found before it.
        let lost: CodingFailure?
        /// For each map that it opened, by its offset: the keys that the type has not asked for so far.
        var unknown: [Int: (names: Set<String>, node: CodingPathNode?)] = [:]
    }

    private let defaults: FieldDefaults
    private var demanded: Set<Field> = []
    private var frames: [Frame] = []
    /// The last field that was missed, where it was, and whether there is a default for it.
    private var missed: (field: Field, path: [String], hasDefault: Bool)?
    /// The first field that no type decodes.
    fileprivate private(set) var lost: CodingFailure?

    fileprivate init(_ defaults: FieldDefaults) { self.defaults = defaults }

    /// Begins a reading from the root.
    fileprivate func begin() {
        (frames, missed, lost) = ([], nil, nil)
    }

    /// Whether another reading gets further than the one that failed.
    fileprivate func shouldRetry(after failure: CodingFailure) -> Bool {
        guard failure.code == .missingKey, let missed, missed.path == failure.path, missed.hasDefault else {
            return false
        }
        return demanded.insert(missed.field).inserted
    }

    // MARK: Types

    func enter(_ type: Any.Type, at offset: Int, under key: (any CodingKey)?, in node: CodingPathNode) {
        // The root itself has no key.
        let depth = max(0, node.depth - 1) + (key == nil ? 0 : 1)
        let isKey = frames.last?.isKey == true || depth == 0 && offset != 0
        frames.append(Frame(type: type, depth: depth, isKey: isKey, lost: lost))
    }

    /// Discards the unknown fields of a failed attempt.
    func leave(hasRead: Bool) {
        let frame = frames.removeLast()
        guard hasRead else {
            lost = frame.lost
            return
        }
        guard lost == nil else { return }
        for (names, node) in frame.unknown.values {
            guard let name = names.min() else { continue }
            lost = CodingFailure(
                .unknownKey,
                "no type knows the key \"\(name)\"",
                path: (node?.path ?? []).map(\.component)
            )
        }
    }

    // MARK: Fields

    func opened(at offset: Int, unknown names: Set<String>, in node: CodingPathNode) {
        guard let top = frames.indices.last else { return }
        if let before = frames[top].unknown[offset] {
            frames[top].unknown[offset]?.names = before.names.intersection(names)
        } else {
            frames[top].unknown[offset] = (names, names.isEmpty ? nil : node)
        }
    }

    func value(of name: String, in node: CodingPathNode) -> Value? {
        guard let frame = frames.last else { return nil }
        let field = Field(type: ObjectIdentifier(frame.type), name: name)
        let path = node.path
        let value = frame.isKey ? nil : defaultValue(of: name, path)
        if demanded.contains(field) { return value }
        missed = (field, path.map(\.component), value != nil)
        return nil
    }

    private func defaultValue(of name: String, _ path: [any CodingKey]) -> Value? {
        let start = path.lastIndex { $0 is any EntryCodingKey }.map { $0 + 1 } ?? 0
        let names = path[start...].map(\.component) + [name]
        if start == 0, let value = defaults.initial(at: names) { return value }
        for frame in frames.reversed() where frame.depth >= start && frame.depth <= path.count {
            if let value = defaults.row(of: frame.type, at: names[(frame.depth - start)...]) { return value }
        }
        return nil
    }
}
