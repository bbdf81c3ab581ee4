extension SummaryChange {
    /// The touched parts of a value, and the containers on the way to them, whose counts may change.
    mutating func add(_ touched: TouchedParts, of value: Value, at path: DigestPath) {
        count(touched, of: value, path, adding: true)
    }

    mutating func remove(_ touched: TouchedParts, of value: Value, at path: DigestPath) {
        count(touched, of: value, path, adding: false)
    }

    private mutating func count(_ touched: TouchedParts, of value: Value, _ path: DigestPath, adding: Bool) {
        if touched.isWhole { return count(value, path, adding: adding) }
        switch value {
        case .map(let map):
            own(.map, map.count, path, adding: adding)
            for (key, inner) in touched.inner {
                guard let element = map.entries[key] else { continue }
                count(inner, of: element, keyed(key, path, adding: adding), adding: adding)
            }
        case .array(let elements):
            own(.array, elements.count, path, adding: adding)
            let moved = min(touched.movedFrom, elements.count)
            for (key, inner) in touched.inner {
                guard let index = key.elementIndex, index < moved else { continue }
                count(inner, of: elements[index], path.index(index), adding: adding)
            }
            adding ? add(elements[moved...], in: path) : remove(elements[moved...], in: path)
        default: break
        }
    }
}
