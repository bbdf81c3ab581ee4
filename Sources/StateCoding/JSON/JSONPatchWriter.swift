/// Writes patches as operations of a JSON Patch.
struct JSONPatchWriter {
    private(set) var operations: [Value] = []

    /// - Throws: `patchMismatch`, with the path from this value on.
    mutating func write(_ patch: Patch, on value: Value, at pointer: String) throws(CodingFailure) {
        switch patch.form {
        case .replace(let new): append("replace", pointer, new)
        case .fields(let fields):
            switch value {
            case _ where fields.count == 0: break
            case .map(let map): try write(fields, on: map, at: pointer)
            case .array(let elements): try write(fields, on: elements, at: pointer)
            default: throw Self.misfit("a map or an array", value)
            }
        case .splice(let splice):
            guard case .array(let elements) = value, splice.removedEnd <= elements.count else {
                throw Self.misfit("an array of at least \(splice.removedEnd)", value)
            }
            write(splice, on: elements, at: pointer)
        case .sequence(let parts):
            var current = value
            for part in parts.dropLast() {
                try write(part, on: current, at: pointer)
                try part.apply(to: &current)
            }
            if let last = parts.last { try write(last, on: current, at: pointer) }
        }
    }

    private mutating func write(
        _ fields: KeyedEntries<Patch.FieldChange>,
        on map: ValueMap,
        at pointer: String
    ) throws(CodingFailure) {
        // What goes, goes first: a key that comes may look like it in JSON.
        for (key, change) in zip(fields.keys, fields.elements) where change == .remove && map[key] != nil {
            append("remove", pointer + JSONPointer.escaped(JSON.name(ofKey: key)))
        }
        for (key, change) in zip(fields.keys, fields.elements) {
            guard case .change(let patch) = change else { continue }
            let name = JSON.name(ofKey: key)
            let inner = pointer + JSONPointer.escaped(name)
            if let element = map[key] {
                do throws(CodingFailure) { try write(patch, on: element, at: inner) } catch {
                    throw error.inside(name)
                }
            } else if case .replace(let new) = patch.form {
                append("add", inner, new)
            } else {
                let message = "expected the key to be there, as the patch changes a part of it"
                throw CodingFailure(.patchMismatch, message).inside(name)
            }
        }
    }

    private mutating func write(
        _ fields: KeyedEntries<Patch.FieldChange>,
        on elements: [Value],
        at pointer: String
    ) throws(CodingFailure) {
        for (key, change) in zip(fields.keys, fields.elements) {
            guard let index = key.elementIndex, elements.indices.contains(index), case .change(let patch) = change
            else {
                throw Self.misfit("the element \(key.summary) to change", .array(elements))
            }
            do throws(CodingFailure) { try write(patch, on: elements[index], at: "\(pointer)/\(index)") } catch {
                throw error.inside("\(index)")
            }
        }
    }

    private mutating func write(_ splice: Patch.Splice, on elements: [Value], at pointer: String) {
        let replaced = min(splice.removed, splice.inserted.count)
        let gone = splice.removed - replaced
        if gone > elements.count - gone {
            let after = elements[..<splice.offset] + splice.inserted + elements[splice.removedEnd...]
            append("replace", pointer, .array(Array(after)))
            return
        }
        for (index, element) in splice.inserted.enumerated() {
            append(index < replaced ? "replace" : "add", "\(pointer)/\(splice.offset + index)", element)
        }
        for _ in 0..<gone { append("remove", "\(pointer)/\(splice.offset + replaced)") }
    }

    private mutating func append(_ operation: String, _ pointer: String, _ value: Value? = nil) {
        var entries: ValueMap = ["op": .text(operation), "path": .text(pointer)]
        entries["value"] = value
        operations.append(.map(entries))
    }

    private static func misfit(_ expected: String, _ value: Value) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(value.summary)")
    }
}
