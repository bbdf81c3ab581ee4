/// Makes the change of an array of where it differs: elements changed in place first, then splices from the front on.
struct ArrayDifference<Element> {
    typealias Hunk = ArrayAlignment<Element>.Hunk

    let alignment: ArrayAlignment<Element>
    let path: DigestPath
    /// Whether anybody asks for the summary.
    private let hasSummary: Bool
    /// Whether this is only to find out how long the patch would be. Nothing is tried then: trials within trials would
    /// multiply with each level.
    let isTrial: Bool
    /// The tree of an element that stands at an index.
    let tree: (Element, Int) throws -> Value
    /// What changed between two elements, or what a trial says of it; the index is the old one's.
    private let elementChange: (Element, Element, Int, _ isTrial: Bool) throws -> Change?

    var old: [Element] { alignment.old }
    var new: [Element] { alignment.new }

    private var fields: [(key: Value, element: Patch.FieldChange)] = []
    private var splices: [Patch.Splice] = []
    private var summary = SummaryChange()
    /// How far both arrays are worked off.
    private var (oldEnd, newEnd) = (0, 0)
    /// Where the last splice ends in the old array.
    private var splicedEnd = -1
    /// How many runs of elements side by side were replaced.
    var replacedRuns = 0

    init(
        _ alignment: ArrayAlignment<Element>,
        path: DigestPath,
        withSummary hasSummary: Bool = true,
        isTrial: Bool,
        tree: @escaping (Element, Int) throws -> Value,
        change: @escaping (Element, Element, Int, _ isTrial: Bool) throws -> Change?
    ) {
        self.alignment = alignment
        self.path = path
        self.hasSummary = hasSummary
        self.isTrial = isTrial
        self.tree = tree
        elementChange = change
    }

    /// Up to this many elements, and so many for each splice, a patch of several parts is compared with the whole array.
    private static var smallMax: Int { 64 }
    private static var smallPerSplice: Int { 8 }

    /// The change; `nil` if there is none.
    mutating func change() throws -> Change? {
        for hunk in try plan(alignment.hunks()) {
            try keep(upTo: hunk)
            if hunk.old.count == hunk.new.count {
                try changeOrReplace(hunk)
            } else {
                for part in try parts(of: hunk) {
                    if part.isPair {
                        try change(part.old.lowerBound, to: part.new.lowerBound)
                    } else {
                        try splice(part)
                    }
                }
            }
            (oldEnd, newEnd) = (hunk.old.upperBound, hunk.new.upperBound)
        }
        guard !fields.isEmpty || !splices.isEmpty else { return nil }
        try keep(upTo: Hunk(old: old.count..<old.count, new: new.count..<new.count))
        summary.resize(.array, from: old.count, to: new.count, at: path)
        return Change(patch: try patch(), summary: summary)
    }

    private func patch() throws -> Patch {
        if fields.isEmpty, splices.count == 1, !old.isEmpty, splices[0].removed == old.count {
            return .replace(.array(splices[0].inserted))
        }
        let elements = Patch(.fields(try KeyedEntries(canonical: fields)))
        let patch = Patch.sequence([elements] + splices.map { Patch(.splice($0)) })
        let small = max(Self.smallMax, Self.smallPerSplice * splices.count)
        guard fields.count + splices.count > 1, new.count <= small else { return patch }
        let whole = Patch.replace(.array(try new.indices.map { try tree(new[$0], $0) }))
        return whole.encode().count < patch.encode().count ? whole : patch
    }

    /// What did not change counts only where it moved, as the summary depends on positions.
    private mutating func keep(upTo hunk: Hunk) throws {
        guard hasSummary, oldEnd != newEnd else { return }
        for (before, after) in zip(oldEnd..<hunk.old.lowerBound, newEnd..<hunk.new.lowerBound) {
            try move(old[before], from: before, to: after)
        }
    }

    private mutating func move(_ element: Element, from before: Int, to after: Int) throws {
        guard hasSummary else { return }
        let tree = try tree(element, before)
        summary.remove(tree, at: path.index(before))
        summary.add(tree, at: path.index(after))
    }

    /// An element that was changed.
    mutating func change(_ before: Int, to after: Int) throws {
        let change = try elementChange(old[before], new[after], before, isTrial)
        if let change { fields.append((Value(before), .change(change.patch))) }
        guard before != after else {
            if let change { summary.combine(change.summary) }
            return
        }
        guard change != nil else { return try move(old[before], from: before, to: after) }
        guard hasSummary else { return }
        summary.remove(try tree(old[before], before), at: path.index(before))
        summary.add(try tree(new[after], after), at: path.index(after))
    }

    /// The change of an element that may be made.
    func tryChange(_ before: Int, _ after: Int) throws -> Change? {
        try elementChange(old[before], new[after], before, true)
    }

    mutating func splice(_ hunk: Hunk) throws {
        let inserted = try hunk.new.map { try tree(new[$0], $0) }
        if hasSummary {
            for index in hunk.old { summary.remove(try tree(old[index], index), at: path.index(index)) }
            for (index, tree) in zip(hunk.new, inserted) { summary.add(tree, at: path.index(index)) }
        }
        // What stands before is new already, so the offset counts as in the new array.
        if let last = splices.last, last.insertedEnd == hunk.new.lowerBound, splicedEnd == hunk.old.lowerBound {
            splices[splices.count - 1].removed += hunk.old.count
            splices[splices.count - 1].inserted += inserted
        } else {
            splices.append(
                Patch.Splice(offset: hunk.new.lowerBound, removed: hunk.old.count, inserted: inserted)
            )
        }
        splicedEnd = hunk.old.upperBound
    }
}
