/// A patch as an untyped value in the wire form (see ``Patch``), for composition and untyped states.
struct PatchTree {
    enum Form {
        case replace(Value)
        /// Patches by key; null removes the key.
        case fields(ValueMap)
        case splice(Splice)
        /// Two or more, one after the other; none of them a sequence.
        case sequence([PatchTree])
    }

    struct Splice {
        var offset: Int
        var removed: Int
        var inserted: [Value]

        /// Half of the range of `Int`, so that two indexes can be added.
        static let maxIndex = Int.max / 2

        /// The end of the removed elements, in the old array.
        var removedEnd: Int { offset + removed }
        /// The end of the inserted elements, in the new array.
        var insertedEnd: Int { offset + inserted.count }
    }

    private(set) var value: Value

    /// - Precondition: The value is a patch.
    init(value: Value) {
        self.value = value
    }

    init(of patch: Patch) {
        value = patch.bytes.withUnsafeBufferPointer { CheckedItems(bytes: $0).value(0..<$0.count) }
    }

    init(_ form: Form) {
        value =
            switch form {
            case .replace(let value): .array([value])
            case .fields(let fields): .map(fields)
            case .splice(let splice):
                .array([Value(splice.offset), Value(splice.removed), .array(splice.inserted)])
            case .sequence(let parts): Self.nest(parts[...])
            }
    }

    /// Nests a sequence of at least one in halves, so that a long one stays within the limit of depth.
    private static func nest(_ parts: ArraySlice<PatchTree>) -> Value {
        if parts.count == 1 { return parts[parts.startIndex].value }
        let middle = parts.startIndex + parts.count / 2
        return .array([nest(parts[..<middle]), nest(parts[middle...])])
    }

    var form: Form {
        switch value {
        case .map(let fields): return .fields(fields)
        case .array(let items) where items.count == 1: return .replace(items[0])
        case .array(let items) where items.count == 2: return .sequence(parts)
        case .array(let items):
            guard items.count == 3, let offset = items[0].elementIndex, let removed = items[1].elementIndex,
                case .array(let inserted) = items[2]
            else { break }
            return .splice(Splice(offset: offset, removed: removed, inserted: inserted))
        default: break
        }
        preconditionFailure("a checked patch is none: \(value.summary)")
    }

    /// Changes nothing.
    static let none = PatchTree(value: [:])

    /// Whether the patch changes nothing.
    var isEmpty: Bool {
        if case .map(let fields) = value { fields.isEmpty } else { false }
    }

    /// Whether the patch replaces the whole value.
    var isReplacement: Bool {
        if case .array(let items) = value { items.count == 1 } else { false }
    }

    /// The patches to apply one after the other.
    var parts: [PatchTree] {
        var (parts, rest) = ([PatchTree](), [value])
        while let value = rest.popLast() {
            if case .array(let items) = value, items.count == 2 {
                rest += [items[1], items[0]]
            } else {
                parts.append(PatchTree(value: value))
            }
        }
        return parts
    }

    // MARK: Taking out

    // Each takes its part out, so that the part has one owner and changes without a copy. The patch is empty then,
    // unless it has no such part.

    mutating func takeParts() -> [PatchTree] {
        defer { self = .none }
        return parts
    }

    mutating func takeReplacement() -> Value? {
        guard isReplacement, var items = value.takeArray() else { return nil }
        self = .none
        return items.removeLast()
    }

    mutating func takeFields() -> ValueMap? {
        guard let fields = value.takeMap() else { return nil }
        self = .none
        return fields
    }

    mutating func takeSplice() -> Splice? {
        guard case .splice(let splice) = form else { return nil }
        self = .none
        return splice
    }
}

extension Value {
    /// The key of a patch as an index. Only integers are: `1.0` is another key than `1`.
    var elementIndex: Int? {
        guard case .unsigned(let index) = self else { return nil }
        return Int(exactly: index)
    }
}
