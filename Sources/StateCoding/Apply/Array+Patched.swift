extension Array: PartiallyPatched where Element: Codable {
    func patched(by patch: Patch, at place: Place) throws -> [Element] {
        if Element.self == UInt8.self { throw Patch.misfit("a map or an array", "\(count) bytes", at: place) }
        let node = try place.open()
        // By far the most patches are one of fields, for which nothing has to wait.
        guard case .fields(let fields) = patch.form else { return try patched(by: patch.parts, at: place, node) }
        var result = self
        for (key, change) in zip(fields.keys, fields.elements) {
            let (index, patch) = try Self.element(key, change, of: count, at: place)
            let place = Place(node: node, key: DataKey.index(index))
            result[index] = try patch.applied(to: self[index], at: place)
        }
        return result
    }

    private func patched(by parts: [Patch], at place: Place, _ node: PathNode) throws -> [Element] {
        var list = ChunkedElements(self, forSplices: parts.count) { element, waiting throws in
            let place = Place(node: node, key: DataKey.index(waiting.index))
            element = try waiting.patch.applied(to: element, at: place)
        }
        for part in parts {
            switch part.form {
            case .fields(let fields):
                for (key, change) in zip(fields.keys, fields.elements) {
                    let (index, patch) = try Self.element(key, change, of: list.count, at: place)
                    list.change(at: index, by: patch)
                }
            case .splice(let splice):
                guard splice.removedEnd <= list.count else {
                    throw Patch.misfit("at least \(splice.removedEnd) elements to splice", "\(list.count)", at: place)
                }
                let inserted = try splice.inserted.enumerated().map { position, value in
                    let place = Place(node: node, key: DataKey.index(splice.offset + position))
                    return try decodeTree(Element.self, from: value, at: place)
                }
                try list.splice(at: splice.offset, removing: splice.removed, inserting: inserted)
            case .replace, .sequence: preconditionFailure("a whole value is no patch of parts")
            }
        }
        return try list.finish()
    }

    /// The element that a field of a patch changes.
    private static func element(
        _ key: StateCoding.Value,
        _ change: Patch.FieldChange,
        of count: Int,
        at place: Place
    ) throws(CodingFailure) -> (index: Int, patch: Patch) {
        do throws(CodingFailure) { return try Patch.element(key, change, of: count) } catch {
            throw error.inside(place)
        }
    }
}
