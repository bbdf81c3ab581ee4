/// The change of one part of a state: the patch of that part, and what it does to the summary of the whole.
struct Change {
    var patch: Patch
    var summary: SummaryChange

    /// The change between two trees; `nil` if they are equal.
    static func replacing(_ old: Value, with new: Value, path: DigestPath) -> Change? {
        Patch.difference(from: old, to: new).map { Change($0, from: old, to: new, path: path) }
    }

    /// The change of a part whose type writes itself by hand. It may write equal values in different orders (a set that is
    /// handed the encoder does), so that a patch of its parts would only fit the very value that it was made from.
    static func replacingWhole(_ old: Value, with new: Value, path: DigestPath) -> Change? {
        old == new ? nil : Change(.replace(new), from: old, to: new, path: path)
    }

    private init(_ patch: Patch, from old: Value, to new: Value, path: DigestPath) {
        var summary = SummaryChange()
        summary.remove(old, at: path)
        summary.add(new, at: path)
        self.init(patch: patch, summary: summary)
    }

    init(patch: Patch, summary: SummaryChange) {
        self.patch = patch
        self.summary = summary
    }
}

/// The outcome of comparing two values of one type.
struct Compared { let change: Change? }

/// Gathers the changes of a container's parts.
struct PartChanges {
    private var entries: [(key: Value, element: Patch.FieldChange)] = []
    private(set) var summary = SummaryChange()
    let path: DigestPath

    init(path: DigestPath) {
        self.path = path
    }

    mutating func insert(_ key: Value, _ value: Value) {
        entries.append((key, .change(.replace(value))))
        summary.add(value, under: key, in: path)
    }

    mutating func remove(_ key: Value, _ value: Value) {
        entries.append((key, .remove))
        summary.remove(value, under: key, in: path)
    }

    mutating func change(_ key: Value, _ change: Change) {
        entries.append((key, .change(change.patch)))
        summary.combine(change.summary)
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The change of the container; `nil` if no part changed.
    ///
    /// - Throws: `duplicateKey`.
    func finish(_ container: SummaryChange.Container, from old: Int, to new: Int) throws(CodingFailure) -> Change? {
        guard !entries.isEmpty else { return nil }
        var summary = summary
        summary.resize(container, from: old, to: new, at: path)
        return Change(patch: Patch(.fields(try KeyedEntries(canonical: entries))), summary: summary)
    }
}
