/// A reading of what another build has written: it fills the fields whose absence makes the reading fail, and finds those
/// that no type knows.
///
/// A field is filled on demand only. A type may try one way to be read after the other, or have a default of its own;
/// neither works any more once what is absent seems to be there.
final class Evolution {
    /// A field of a type, wherever values of the type are.
    private struct Field: Hashable {
        let type: ObjectIdentifier
        let name: String
    }

    /// A type that is being read.
    private struct Frame {
        let type: Any.Type
        /// The keys on the way to it.
        let depth: Int
        /// Whether it is the key of a collection, or a part of one.
        let isKey: Bool
        /// What was lost before it.
        let lost: CodingFailure?
        /// For each map that it opened, by its offset: the keys that nobody has asked for so far.
        var unknown: [Int: (names: Set<String>, node: PathNode?)] = [:]
    }

    private let defaults: FieldDefaults
    private var demanded: Set<Field> = []
    private var frames: [Frame] = []
    /// The last field that was missed, where it was, and whether there is a default for it.
    private var missed: (field: Field, path: [String], hasDefault: Bool)?
    /// The first field that no type knows.
    private(set) var lost: CodingFailure?

    init(_ defaults: FieldDefaults) {
        self.defaults = defaults
    }

    /// A reading begins, from the root.
    func begin() {
        (frames, missed, lost) = ([], nil, nil)
    }

    /// Whether another reading goes further than the one that failed.
    func goesOn(after failure: CodingFailure) -> Bool {
        guard failure.code == .missingKey, let missed, missed.path == failure.path, missed.hasDefault else {
            return false
        }
        return demanded.insert(missed.field).inserted
    }

    // MARK: Types

    func enter(_ type: Any.Type, at offset: Int, under key: (any CodingKey)?, in node: PathNode) {
        // The root itself has no key.
        let depth = max(0, node.depth - 1) + (key == nil ? 0 : 1)
        let isKey = frames.last?.isKey == true || depth == 0 && offset != 0
        frames.append(Frame(type: type, depth: depth, isKey: isKey, lost: lost))
    }

    /// A type is read. What one lacks that was tried in vain is not lost.
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

    /// A type reads a map by its keys, and does not know some of those that are there.
    func opened(at offset: Int, unknown names: Set<String>, in node: PathNode) {
        guard let top = frames.indices.last else { return }
        if let before = frames[top].unknown[offset] {
            frames[top].unknown[offset]?.names = before.names.intersection(names)
        } else {
            frames[top].unknown[offset] = (names, names.isEmpty ? nil : node)
        }
    }

    /// What to read in place of a field that is missing.
    func value(of name: String, in node: PathNode) -> Value? {
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
