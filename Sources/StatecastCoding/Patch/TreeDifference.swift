extension Patch {
    /// The difference of two untyped values.
    public init(from old: Value, to new: Value) {
        do {
            let change = try PatchWriter.run { try $0.writeDifference(from: old, to: new, path: .root) }
            self = change?.patch ?? .none
        } catch {
            preconditionFailure("the comparison of trees encodes nothing, but it failed: \(error)")
        }
    }
}

extension PatchWriter {
    /// Writes the difference of two untyped values.
    func writeDifference(from old: Value, to new: Value, path: DigestPath) throws -> Bool {
        switch (old, new) {
        case (.map(let old), .map(let new)): return try writeDifference(from: old, to: new, path: path)
        case (.array(let old), .array(let new)):
            var arrays = ArrayDifference(
                from: old,
                to: new,
                path: path,
                by: self,
                same: ==,
                encode: { element, _ in self.output.writer.value(element) },
                writeChange: { old, new, _, path in try self.writeDifference(from: old, to: new, path: path) }
            )
            return try arrays.write()
        default: return replaceWhole(old, with: new, path: path)
        }
    }

    private func writeDifference(from old: ValueMap, to new: ValueMap, path: DigestPath) throws -> Bool {
        let changes = MapChanges(path: path, by: self)
        var removed = 0
        try ValueMap.Entries.differences(from: old.entries, to: new.entries) { key, before, after in
            func writeKey() {
                let start = offset
                output.writer.value(key)
                output.contents.pointee.entries.append(output.writer.entry(from: start))
            }
            if let before, let after {
                try changes.change(writeKey) {
                    try writeDifference(from: before.pointee, to: after.pointee, path: $0)
                }
            } else if let after {
                try changes.insert(writeKey) { output.writer.value(after.pointee) }
            } else if let before {
                try changes.remove(writeKey) { output.writer.value(before.pointee) }
                removed += 1
            }
        }
        if removed == old.count && !old.isEmpty {
            // No key stayed: the value may be an enum that changed its case, which must never have both keys.
            changes.rollBack()
            return replaceWhole(.map(old), with: .map(new), path: path)
        }
        return try changes.finish(from: old.count, to: new.count, at: .root(.standard))
    }
}
