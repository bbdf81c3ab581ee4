/// A patch in a checked source, read in place: what a typed state is patched with.
struct PatchItem {
    enum Form: Equatable {
        /// The entries follow.
        case fields(count: Int)
        /// The new value follows.
        case replacement
        /// The offset, the number of removed elements and the array of inserted ones follow.
        case splice
        /// Two patches follow.
        case sequence
    }

    let form: Form
    /// The position after the head.
    let content: ItemCursor
    private let start: ItemCursor

    /// - Precondition: A patch comes next.
    init(_ cursor: ItemCursor) {
        let head = cursor.source.head(at: cursor.offset)
        form =
            switch (head.major, head.argument) {
            case (5, let count): .fields(count: Int(count))
            case (_, 1): .replacement
            case (_, 2): .sequence
            default: .splice
            }
        content = ItemCursor(source: cursor.source, offset: head.next)
        start = cursor
    }

    /// The position after the patch.
    var end: Int { content.source.end(of: start.offset) }

    var tree: PatchTree { PatchTree(value: start.copy()) }

    /// The patches to apply one after the other, none of them a sequence.
    var parts: [PatchItem] {
        var (parts, cursor, pending) = ([PatchItem](), start, 1)
        while pending > 0 {
            let part = PatchItem(cursor)
            if part.form == .sequence {
                cursor = part.content
                pending += 1
            } else {
                cursor.offset = part.end
                parts.append(part)
                pending -= 1
            }
        }
        return parts
    }

    static func misfit(_ expected: String, _ came: String, at place: CodingPath) -> CodingFailure {
        place.failure(.patchMismatch, "expected \(expected), got \(came)")
    }
}
