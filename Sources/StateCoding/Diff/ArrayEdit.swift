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

    /// Each splice moves all that follows it; beyond this many, one wide one is cheaper.
    private static let splicesMax = 32

    /// - Returns: `nil` if all elements are the same.
    init?<Element>(from old: [Element], to new: [Element], by same: @escaping (Element, Element) -> Bool) {
        let hunks = ArrayAlignment(old: old, new: new, same: same).hunks()
        guard let first = hunks.first, let last = hunks.last else { return nil }
        if hunks.allSatisfy({ $0.old.count == $0.new.count && $0.old.lowerBound == $0.new.lowerBound }) {
            self = .elements(first.new.lowerBound..<last.new.upperBound)
        } else if hunks.count > Self.splicesMax {
            let removed = last.old.upperBound - first.old.lowerBound
            let inserted = first.new.lowerBound..<last.new.upperBound
            self = .splices([Splice(offset: inserted.lowerBound, removed: removed, inserted: inserted)])
        } else {
            // What stands before a hunk is new already, so its offset counts as in the new array.
            self = .splices(
                hunks.map { Splice(offset: $0.new.lowerBound, removed: $0.old.count, inserted: $0.new) }
            )
        }
    }
}

extension Patch {
    /// Makes the patch of splices.
    static func splices(_ splices: [ArrayEdit.Splice], value: (Range<Int>) throws -> [Value]) rethrows -> Patch {
        .sequence(try splices.map { .splice($0.offset, $0.removed, try value($0.inserted)) })
    }
}
