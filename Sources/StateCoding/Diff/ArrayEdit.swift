/// How one array becomes another: the plan, without its elements.
enum ArrayEdit: Equatable {
    /// The same length: each element of the range by itself.
    case elements(Range<Int>)
    /// At `offset`, `removed` elements go and those of the new array's range come; in this order.
    case splices([Splice])

    struct Splice: Equatable {
        var offset: Int
        var removed: Int
        var inserted: Range<Int>
    }

    /// Common prefix and suffix; what is between is compared one by one if its length stayed, else replaced. A list
    /// that lost its oldest and gained new elements, as bounded logs do, is seen as that.
    ///
    /// - Returns: `nil` if all elements are the same.
    init?<Element>(from old: [Element], to new: [Element], by same: (Element, Element) -> Bool) {
        let common = min(old.count, new.count)
        var prefix = 0
        while prefix < common, same(old[prefix], new[prefix]) { prefix += 1 }
        var suffix = 0
        while suffix < common - prefix, same(old[old.count - 1 - suffix], new[new.count - 1 - suffix]) { suffix += 1 }

        let (before, after) = (prefix..<(old.count - suffix), prefix..<(new.count - suffix))
        if before.isEmpty && after.isEmpty { return nil }
        if let gone = Self.shift(from: old[before], to: new[after], by: same) {
            let stayed = before.count - gone
            self = .splices([
                Splice(offset: prefix, removed: gone, inserted: prefix..<prefix),
                Splice(offset: prefix + stayed, removed: 0, inserted: (prefix + stayed)..<after.upperBound),
            ])
        } else if before.count == after.count {
            self = .elements(after)
        } else {
            self = .splices([Splice(offset: prefix, removed: before.count, inserted: after)])
        }
    }

    /// How many elements went at the front, if all others are still there in front of the new ones.
    private static func shift<Element>(
        from old: ArraySlice<Element>,
        to new: ArraySlice<Element>,
        by same: (Element, Element) -> Bool
    ) -> Int? {
        guard let first = new.first else { return nil }
        guard let start = old.indices.dropFirst().first(where: { same(old[$0], first) }) else { return nil }
        let stayed = old[start...]
        guard stayed.count <= new.count, zip(stayed, new).allSatisfy(same) else { return nil }
        return start - old.startIndex
    }
}

extension Patch {
    /// Makes the patch of splices.
    static func splices(_ splices: [ArrayEdit.Splice], value: (Range<Int>) throws -> [Value]) rethrows -> Patch {
        .sequence(try splices.map { .splice($0.offset, $0.removed, try value($0.inserted)) })
    }
}
