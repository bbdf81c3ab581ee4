extension Patch {
    /// Finds out whether the patch fits before anything is changed: cheaper than a copy, of which each container on
    /// the way would be a copy too. Only a sequence must be tried, and what it leads to is kept for performing.
    func check(against value: Value, _ results: inout SequenceResults) throws(CodingFailure) {
        switch form {
        case .replace: break
        case .fields(let fields):
            if fields.count > 0 { try Self.check(fields, against: value, &results) }
        case .splice(let splice): try splice.check(against: value)
        case .sequence(let parts):
            var copy = value
            try Self.run(parts[...], on: &copy)
            results.append(copy)
        }
    }

    private static func check(
        _ fields: KeyedEntries<FieldChange>,
        against value: Value,
        _ results: inout SequenceResults
    ) throws(CodingFailure) {
        switch value {
        case .map(let map):
            for (key, change) in zip(fields.keys, fields.elements) {
                guard case .change(let patch) = change else { continue }
                do throws(CodingFailure) {
                    if let element = map.entries[key] {
                        try patch.check(against: element, &results)
                    } else {
                        _ = try patch.inserted
                    }
                } catch {
                    throw error.inside(DataKey.of(key).component)
                }
            }
        case .array(let elements):
            for (key, change) in zip(fields.keys, fields.elements) {
                let (index, patch) = try element(key, change, of: elements.count)
                do throws(CodingFailure) { try patch.check(against: elements[index], &results) } catch {
                    throw error.inside("\(index)")
                }
            }
        default: throw misfit("a map or an array", value.summary)
        }
    }

    /// What the patch brings where nothing is.
    var inserted: Value {
        get throws(CodingFailure) {
            guard case .replace(let value) = form else {
                let message = "expected the key to be there, as the patch changes a part of it"
                throw CodingFailure(.patchMismatch, message)
            }
            return value
        }
    }

    /// The element that a field of a patch changes.
    static func element(
        _ key: Value,
        _ change: FieldChange,
        of count: Int
    ) throws(CodingFailure) -> (index: Int, patch: Patch) {
        guard let index = key.elementIndex, index < count, case .change(let patch) = change else {
            throw misfit("the element \(key.summary) of an array to change", "an array of \(count)")
        }
        return (index, patch)
    }

    static func misfit(_ expected: String, _ came: String) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(came)")
    }
}

extension Patch.Splice {
    func check(against value: Value) throws(CodingFailure) {
        guard case .array(let elements) = value else { throw Patch.misfit("an array to splice", value.summary) }
        try check(count: elements.count)
    }

    func check(count: Int) throws(CodingFailure) {
        guard removedEnd <= count else {
            throw Patch.misfit("at least \(removedEnd) elements to splice", "an array of \(count)")
        }
    }
}

/// What the sequences of a patch lead to, in the order in which the patch is walked.
struct SequenceResults {
    private var values: [Value] = []
    private var taken = 0

    mutating func append(_ value: Value) { values.append(value) }

    /// The next one. It has no other owner then.
    mutating func next() -> Value {
        defer {
            values[taken] = .null
            taken += 1
        }
        return values[taken]
    }
}

extension Value {
    /// The key of a patch as an index. Only integers: `1.0` is another key than `1`, and would be the same index.
    var elementIndex: Int? {
        guard case .unsigned(let index) = self else { return nil }
        return Int(exactly: index)
    }

    /// Takes the map out, leaving null: in a function of its own, so that no copy of it stays alive meanwhile.
    mutating func takeMap() -> ValueMap? {
        guard case .map(let map) = self else { return nil }
        self = .null
        return map
    }

    /// Takes the array out, likewise.
    mutating func takeArray() -> [Value]? {
        guard case .array(let elements) = self else { return nil }
        self = .null
        return elements
    }
}
