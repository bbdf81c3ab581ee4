/// A value while the operations of a JSON Patch change it. Parts are opened where an operation goes, so that what none of
/// them touches costs nothing, and so that in the end the patch is known without comparing the whole.
final class JSONDraft {
    enum Content {
        /// Not gone into, or replaced as a whole.
        case closed(Value)
        case map(JSONMapDraft)
        case array(JSONArrayDraft)
    }

    /// What stands here in the base; `nil` if nothing does.
    private let original: Value?
    private var content: Content

    init(original: Value?, _ value: Value) {
        self.original = original
        content = .closed(value)
    }

    /// The value as it is now.
    var value: Value {
        switch content {
        case .closed(let value): value
        case .map(let map): map.value
        case .array(let array): array.value
        }
    }

    func replace(with value: Value) {
        content = .closed(value)
    }

    /// What leads from the base to the value here; `nil` if nothing changed.
    var change: Patch? {
        switch content {
        case .closed(let value): value == original ? nil : .replace(value)
        case .map(let map) where original == map.original: map.change
        case .array(let array) where original == array.original: array.change
        case .map, .array: .replace(value)
        }
    }

    /// The part that a token names.
    ///
    /// - Throws: `patchMismatch`.
    func part(_ token: String) throws(CodingFailure) -> JSONDraft {
        switch open() {
        case .map(let map): try map.part(token)
        case .array(let array): try array.part(token)
        case .closed(let value): throw Self.noContainer(value)
        }
    }

    func add(_ value: Value, _ token: String) throws(CodingFailure) {
        switch open() {
        case .map(let map): map.set(value, token)
        case .array(let array): try array.insert(value, token)
        case .closed(let other): throw Self.noContainer(other)
        }
    }

    func remove(_ token: String) throws(CodingFailure) {
        switch open() {
        case .map(let map): try map.remove(token)
        case .array(let array): try array.remove(token)
        case .closed(let other): throw Self.noContainer(other)
        }
    }

    /// Opens the value, if it is a container.
    private func open() -> Content {
        guard case .closed(let value) = content else { return content }
        switch JSONForm(value) {
        case .map(let map): content = .map(JSONMapDraft(map, original: value))
        case .array(let elements): content = .array(JSONArrayDraft(elements, original: value))
        default: break
        }
        return content
    }

    private static func noContainer(_ value: Value) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected an object or an array, got \(value.summary)")
    }
}

extension Value {
    /// Another content in the tags of this value.
    func retagging(_ content: Value) -> Value {
        if case .tagged(let tag, let inner) = self { .tagged(tag, inner.retagging(content)) } else { content }
    }

    var isTagged: Bool {
        if case .tagged = self { true } else { false }
    }
}
