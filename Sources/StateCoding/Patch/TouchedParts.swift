/// The parts of a value that patches touch one after the other: outside of them it is the same before and after.
struct TouchedParts {
    /// Whether all of it is.
    private(set) var isWhole = false
    /// From where on the elements of an array may have moved. Those before are where they were all the time.
    private(set) var movedFrom = Int.max
    /// By key or by index.
    private(set) var inner: [Value: TouchedParts] = [:]

    private init() {}

    init(_ patches: [Patch]) {
        for patch in patches { insert(patch) }
    }

    private mutating func insert(_ patch: Patch) {
        if isWhole { return }
        switch patch.form {
        case .replace: insertAll()
        case .fields(let fields):
            for (key, change) in zip(fields.keys, fields.elements) {
                switch change {
                case .remove: inner[key, default: TouchedParts()].insertAll()
                case .change(let patch): inner[key, default: TouchedParts()].insert(patch)
                }
            }
        case .splice(let splice) where splice.removed == splice.inserted.count:
            for index in splice.offset..<splice.insertedEnd {
                inner[Value(index), default: TouchedParts()].insertAll()
            }
        case .splice(let splice): movedFrom = min(movedFrom, splice.offset)
        case .sequence(let parts): for part in parts { insert(part) }
        }
    }

    private mutating func insertAll() {
        isWhole = true
        inner = [:]
    }
}
