/// Writes the change of an array: elements changed in place first, then splices from the front on.
///
/// After trimming both ends, the elements are compared one by one, or aligned by a minimal edit if that is
/// shorter. The number of comparisons is bounded: an array with many scattered insertions and removals is
/// changed element by element. Many rows belong in a `Table`.
struct ArrayDifference<Element> {
    /// A range of the old array that became one of the new array; at least one is not empty.
    private struct Hunk {
        var old: Range<Int>
        var new: Range<Int>
    }

    private let old: [Element]
    private let new: [Element]
    private let path: DigestPath
    private let writer: PatchWriter
    private let same: (Element, Element) -> Bool
    /// Writes an element at an index as an item.
    private let encode: (Element, Int) throws -> Void
    /// Writes the change between two elements; the index and the path are those of the old one.
    private let writeChange: (Element, Element, Int, DigestPath) throws -> Bool

    /// A splice whose new elements are encoded.
    private struct Splice {
        let offset: Int
        var removed: Int
        var count = 0
        var elements: [UInt8] = []

        var patch: [UInt8] {
            CBORWriter.bytes(reserving: elements.count + 32) {
                $0.array(count: 3)
                $0.unsigned(UInt64(offset))
                $0.unsigned(UInt64(removed))
                $0.array(count: count)
                $0.encoded(elements)
            }
        }
    }

    /// The number of elements changed in place, whose changes are written.
    private var changed = 0
    private var splices: [Splice] = []
    /// The end of the last splice in the old array.
    private var splicedEnd = 0

    /// Up to this number of changed elements are not joined to one splice.
    private static var maxScattered: Int { 3 }
    /// Up to this number of elements, the patch is compared with a replacement of the array.
    private static var maxSmall: Int { 64 }

    init(
        from old: [Element],
        to new: [Element],
        path: DigestPath,
        by writer: PatchWriter,
        same: @escaping (Element, Element) -> Bool,
        encode: @escaping (Element, Int) throws -> Void,
        writeChange: @escaping (Element, Element, Int, DigestPath) throws -> Bool
    ) {
        self.old = old
        self.new = new
        self.path = path
        self.writer = writer
        self.same = same
        self.encode = encode
        self.writeChange = writeChange
    }

    /// Writes the change.
    ///
    /// - Returns: Whether there is one; if not, nothing is written.
    mutating func write() throws -> Bool {
        let start = writer.mark
        writer.output.writer.openContainer()
        var (oldEnd, newEnd) = (0, 0)
        var rest = hunks()[...]
        while let hunk = rest.popFirst() {
            try move(oldEnd..<hunk.old.lowerBound, to: newEnd)
            if hunk.old.count != hunk.new.count {
                try splice(hunk)
            } else {
                let touchesSplice = rest.first.map { $0.old.lowerBound == hunk.old.upperBound } ?? false
                try changeElements(hunk, splicingAbove: touchesSplice ? 0 : Self.maxScattered)
            }
            (oldEnd, newEnd) = (hunk.old.upperBound, hunk.new.upperBound)
        }
        guard changed > 0 || !splices.isEmpty else {
            writer.rollBack(to: start)
            return false
        }
        try move(oldEnd..<old.count, to: newEnd)
        writer.summary.resize(.array, from: old.count, to: new.count, at: path)
        try finish(from: start.offset)
        return true
    }

    /// Completes the patch, which begins with the changes in place.
    private func finish(from start: Int) throws {
        if changed == 0, splices.count == 1, !old.isEmpty, splices[0].removed == old.count {
            writer.output.writer.truncate(to: start)
            writer.beginReplacement()
            writer.output.writer.array(count: splices[0].count)
            return writer.output.writer.encoded(splices[0].elements)
        }
        writer.output.writer.closeContainer(.map, at: start, count: changed)
        if !splices.isEmpty {
            let inPlace = changed > 0 ? [writer.bytes(from: start)] : []
            writer.output.writer.truncate(to: start)
            writer.output.writer.sequence((inPlace + splices.map(\.patch))[...])
        }
        let parts = changed + splices.count
        guard parts > 1, new.count <= max(Self.maxSmall, parts * 8) else { return }
        let end = writer.offset
        writer.beginReplacement()
        writer.output.writer.array(count: new.count)
        for index in new.indices { try encode(new[index], index) }
        let isShorter = writer.offset - end < end - start
        writer.output.writer.remove(isShorter ? start..<end : end..<writer.offset)
    }

    // MARK: Alignment

    /// The ranges that differ, in order.
    private func hunks() -> [Hunk] {
        let (prefix, suffix) = equalEnds()
        let middle = Hunk(old: prefix..<(old.count - suffix), new: prefix..<(new.count - suffix))
        if middle.old.isEmpty || middle.new.isEmpty {
            return middle.old.isEmpty && middle.new.isEmpty ? [] : [middle]
        }
        let inPlace = hunksInPlace(middle)
        let changes = inPlace.reduce(0) { $0 + max($1.old.count, $1.new.count) }
        return changes > 1 ? alignedHunks(middle, maxChanges: changes) ?? inPlace : inPlace
    }

    /// The numbers of equal elements at the start and at the end.
    ///
    /// Elements with the same bytes are the same. To pass an element to `same` copies it, which takes longer.
    private func equalEnds() -> (prefix: Int, suffix: Int) {
        old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                guard let oldBase = old.baseAddress, let newBase = new.baseAddress else { return (0, 0) }
                func isSame(_ before: Int, _ after: Int) -> Bool {
                    haveSameBytes(oldBase + before, newBase + after) || same(old[before], new[after])
                }
                let common = min(old.count, new.count)
                var prefix = 0
                while prefix < common, isSame(prefix, prefix) { prefix += 1 }
                var suffix = 0
                while suffix < common - prefix, isSame(old.count - 1 - suffix, new.count - 1 - suffix) { suffix += 1 }
                return (prefix, suffix)
            }
        }
    }

    /// The ranges that differ if elements at the same offset belong together.
    private func hunksInPlace(_ middle: Hunk) -> [Hunk] {
        var hunks: [Hunk] = []
        let common = min(middle.old.count, middle.new.count)
        var start: Int?
        for step in 0...common {
            let (left, right) = (middle.old.lowerBound + step, middle.new.lowerBound + step)
            if step < common, !same(old[left], new[right]) {
                start = start ?? step
            } else if let first = start.take() {
                let (oldStart, newStart) = (middle.old.lowerBound + first, middle.new.lowerBound + first)
                hunks.append(Hunk(old: oldStart..<left, new: newStart..<right))
            }
        }
        let rest = Hunk(
            old: (middle.old.lowerBound + common)..<middle.old.upperBound,
            new: (middle.new.lowerBound + common)..<middle.new.upperBound
        )
        return rest.old.isEmpty && rest.new.isEmpty ? hunks : hunks + [rest]
    }

    /// The ranges that differ, for a minimal edit; `nil` if it exceeds `maxChanges` or the comparison budget.
    private func alignedHunks(_ middle: Hunk, maxChanges: Int) -> [Hunk]? {
        // Rounds of the search that compare nothing are bounded by the difference of the counts.
        guard abs(middle.old.count - middle.new.count) <= 256 else { return nil }
        var search = MinimalEdit(
            from: middle.old.count,
            to: middle.new.count,
            maxEdits: maxChanges,
            maxComparisons: 4 * (middle.old.count + middle.new.count) + 4096
        ) { same(old[middle.old.lowerBound + $0], new[middle.new.lowerBound + $1]) }
        guard let (removed, inserted) = search.run() else { return nil }
        var hunks: [Hunk] = []
        var (left, right) = (0, 0)
        while left < middle.old.count || right < middle.new.count {
            let (oldStart, newStart) = (left, right)
            while removed.contains(left) { left += 1 }
            while inserted.contains(right) { right += 1 }
            if left > oldStart || right > newStart {
                let (oldBase, newBase) = (middle.old.lowerBound, middle.new.lowerBound)
                hunks.append(
                    Hunk(old: (oldBase + oldStart)..<(oldBase + left), new: (newBase + newStart)..<(newBase + right))
                )
            } else {
                (left, right) = (left + 1, right + 1)
            }
        }
        return hunks
    }

    // MARK: Changes

    /// Elements that did not change count for the summary where they moved, as it depends on positions.
    private func move(_ range: Range<Int>, to start: Int) throws {
        if range.lowerBound == start { return }
        for (before, after) in zip(range, start...) {
            try writer.withItem {
                try encode(old[before], before)
            } _: { item in
                writer.count(itemAt: item, path: path.index(before), adding: false)
                writer.count(itemAt: item, path: path.index(after), adding: true)
            }
        }
    }

    /// Changes elements one by one, or replaces more than `max` of them if none has parts that could change.
    private mutating func changeElements(_ hunk: Hunk, splicingAbove max: Int) throws {
        let start = writer.mark
        let changedBefore = changed
        var areReplaced = true
        for (before, after) in zip(hunk.old, hunk.new) {
            let entry = writer.mark
            writer.output.writer.unsigned(UInt64(before))
            let patch = writer.offset
            if try writeChange(old[before], new[after], before, path.index(before)) {
                changed += 1
                areReplaced = areReplaced && writer.isReplacement(at: patch)
            } else {
                writer.rollBack(to: entry)
                areReplaced = false
            }
            guard before != after else { continue }
            writer.summary = entry.summary
            try count(old[before], at: before, adding: false)
            try count(new[after], at: after, adding: true)
        }
        guard areReplaced, hunk.old.count > max else { return }
        writer.rollBack(to: start)
        changed = changedBefore
        try splice(hunk)
    }

    private mutating func splice(_ hunk: Hunk) throws {
        for index in hunk.old { try count(old[index], at: index, adding: false) }
        let start = writer.offset
        for index in hunk.new {
            let item = writer.offset
            try encode(new[index], index)
            writer.count(itemAt: item, path: path.index(index), adding: true)
        }
        // Preceding changes are already applied, so the offset is one in the new array.
        var splice = Splice(offset: hunk.new.lowerBound, removed: 0)
        if let last = splices.last, last.offset + last.count == hunk.new.lowerBound, splicedEnd == hunk.old.lowerBound {
            splice = splices.removeLast()
        }
        splice.removed += hunk.old.count
        splice.count += hunk.new.count
        splice.elements += writer.bytes(from: start)
        splices.append(splice)
        writer.output.writer.truncate(to: start)
        splicedEnd = hunk.old.upperBound
    }

    /// Counts an element that is removed or inserted.
    private func count(_ element: Element, at index: Int, adding: Bool) throws {
        try writer.withItem {
            try encode(element, index)
        } _: {
            writer.count(itemAt: $0, path: path.index(index), adding: adding)
        }
    }
}
