extension Patch {
    /// The difference of two untyped values.
    public init(from old: Value, to new: Value) {
        do {
            self = try PatchWriter.run { try $0.writeDifference(from: old, to: new) }?.patch ?? .none
        } catch {
            preconditionFailure("the comparison of trees encodes nothing, but it failed: \(error)")
        }
    }
}

extension PatchWriter {
    /// Writes the difference of two untyped values, which does not count in the summary.
    func writeDifference(from old: Value, to new: Value) throws -> Bool {
        switch (old, new) {
        case (.map(let old), .map(let new)): return try writeDifference(from: old, to: new)
        case (.array(let old), .array(let new)): return try writeDifference(from: old, to: new)
        default:
            guard old != new else { return false }
            beginReplacement()
            output.writer.value(new)
            return true
        }
    }

    private func writeDifference(from old: [Value], to new: [Value]) throws -> Bool {
        var arrays = ArrayDifference(
            from: old,
            to: new,
            path: nil,
            by: self,
            same: ==,
            encode: { element, _ in self.output.writer.value(element) },
            writeChange: { old, new, _, _ in try self.writeDifference(from: old, to: new) }
        )
        return try arrays.write()
    }

    private func writeDifference(from old: ValueMap, to new: ValueMap) throws -> Bool {
        let start = mark
        output.writer.openContainer()
        var (changed, removed) = (0, 0)
        try ValueMap.Entries.differences(from: old.entries, to: new.entries) { key, before, after in
            let entry = mark
            output.writer.value(key)
            switch (before, after) {
            case (let before?, let after?):
                guard try writeDifference(from: before.pointee, to: after.pointee) else { return rollBack(to: entry) }
            case (nil, let after?):
                beginReplacement()
                output.writer.value(after.pointee)
            case (_, nil):
                output.writer.null()
                removed += 1
            }
            changed += 1
        }
        guard changed > 0 else {
            rollBack(to: start)
            return false
        }
        if removed == old.count && !old.isEmpty {
            // No key stayed: the value may be an enum that changed its case, which must never have both keys.
            rollBack(to: start)
            beginReplacement()
            output.writer.value(.map(new))
        } else {
            output.writer.closeContainer(.map, at: start.offset, count: changed)
        }
        return true
    }
}
