public import StatecastCoding

extension Patch {
    /// The patch as a JSON Patch (RFC 6902): an array of the operations `add`, `remove` and `replace`.
    ///
    /// ```swift
    /// let text = JSON.text(of: try patch.jsonPatch(from: state))
    /// ```
    ///
    /// Applied to the JSON text of `base`, it makes the JSON text of the patched value, provided that the keys of each
    /// map differ in JSON. `base` shows which values are arrays, and which keys exist. The cost follows the size of the
    /// patch, plus an operation for each element that a splice removes or inserts, but never more than the array then
    /// has elements.
    ///
    /// - Throws: `patchMismatch` if the patch does not fit, with the path.
    public func jsonPatch(from base: Value) throws(CodingFailure) -> Value {
        var writer = JSONPatchWriter()
        // The depth of the patch was checked when it was made.
        try writer.write(Value(decoding: encode(), limits: CodingLimits(maxDepth: .max)), on: base, at: "")
        return .array(writer.operations)
    }
}

/// Translates patches in their wire form (PROTOCOL.md, section 9) to operations of a JSON Patch.
private struct JSONPatchWriter {
    private(set) var operations: [Value] = []

    mutating func write(_ patch: Value, on value: Value, at pointer: String) throws(CodingFailure) {
        switch (patch, value) {
        case (.map(let fields), _) where fields.isEmpty: break
        case (.map(let fields), .map(let map)): try write(fields, on: map, at: pointer)
        case (.map(let fields), .array(let elements)): try write(fields, on: elements, at: pointer)
        case (.map, _): throw misfit("a map or an array", value)
        case (.array(let parts), _):
            switch parts.count {
            case 1: append("replace", pointer, parts[0])
            case 2: try write(sequence: patch, on: value, at: pointer)
            default: try write(splice: parts, on: value, at: pointer)
            }
        default: preconditionFailure("a patch is a map or an array, got \(patch.summary)")
        }
    }

    private mutating func write(sequence: Value, on value: Value, at pointer: String) throws(CodingFailure) {
        var (current, steps) = (value, [sequence])
        while let step = steps.popLast() {
            if let pair = step.arrayValue, pair.count == 2 {
                steps += [pair[1], pair[0]]
                continue
            }
            try write(step, on: current, at: pointer)
            if !steps.isEmpty { try Patch(decoding: step.encoded).apply(to: &current) }
        }
    }

    private mutating func write(_ fields: ValueMap, on map: ValueMap, at pointer: String) throws(CodingFailure) {
        // Removals come first: a new key may look like a removed one in JSON.
        for (key, change) in fields where change.isNull && map[key] != nil {
            append("remove", pointer + JSONPointer.token(key.keyName))
        }
        for (key, change) in fields where !change.isNull {
            let name = key.keyName
            let inner = pointer + JSONPointer.token(name)
            if let element = map[key] {
                do throws(CodingFailure) { try write(change, on: element, at: inner) } catch {
                    throw error.inside(name)
                }
            } else if case .array(let parts) = change, parts.count == 1 {
                append("add", inner, parts[0])
            } else {
                let message = "expected the key to be there, as the patch changes a part of it"
                throw CodingFailure(.patchMismatch, message).inside(name)
            }
        }
    }

    private mutating func write(_ fields: ValueMap, on elements: [Value], at pointer: String) throws(CodingFailure) {
        for (key, change) in fields {
            guard case .unsigned = key, let index = key.intValue, elements.indices.contains(index), !change.isNull
            else {
                throw misfit("the element \(key.summary) to change", .array(elements))
            }
            do throws(CodingFailure) { try write(change, on: elements[index], at: "\(pointer)/\(index)") } catch {
                throw error.inside("\(index)")
            }
        }
    }

    /// A splice is the offset, the number of removed elements, and the inserted ones.
    private mutating func write(splice: [Value], on value: Value, at pointer: String) throws(CodingFailure) {
        guard let offset = splice[0].intValue, let removed = splice[1].intValue, let inserted = splice[2].arrayValue
        else { preconditionFailure("expected a splice, got \(Value.array(splice))") }
        let end = offset + removed
        guard case .array(let elements) = value, end <= elements.count else {
            throw misfit("an array of at least \(end)", value)
        }
        let replaced = min(removed, inserted.count)
        let gone = removed - replaced
        if gone > elements.count - gone {
            return append("replace", pointer, .array(Array(elements[..<offset]) + inserted + elements[end...]))
        }
        for (index, element) in inserted.enumerated() {
            append(index < replaced ? "replace" : "add", "\(pointer)/\(offset + index)", element)
        }
        for _ in 0..<gone { append("remove", "\(pointer)/\(offset + replaced)") }
    }

    private mutating func append(_ operation: String, _ pointer: String, _ value: Value? = nil) {
        var entries: ValueMap = ["op": .text(operation), "path": .text(pointer)]
        entries["value"] = value
        operations.append(.map(entries))
    }

    private func misfit(_ expected: String, _ value: Value) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(value.summary)")
    }
}
