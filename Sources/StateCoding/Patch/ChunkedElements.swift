/// The elements of an array in chunks, if many splices come: each moves the elements of one chunk, not all that follow.
struct ChunkedElements {
    private static let countMax = 512
    /// So few splices cost less than cutting the array.
    private static let splicesMax = 32

    private var chunks: [[Value]]
    private(set) var count: Int
    private let isCut: Bool

    init(_ elements: consuming [Value], forSplices splices: Int) {
        count = elements.count
        isCut = splices > Self.splicesMax
        chunks = isCut ? Self.cut(elements) : [elements]
    }

    var elements: [Value] {
        if chunks.count == 1 { return chunks[0] }
        var elements: [Value] = []
        elements.reserveCapacity(count)
        for chunk in chunks { elements += chunk }
        return elements
    }

    mutating func change<Failure: Error>(
        at index: Int,
        _ body: (inout Value) throws(Failure) -> Void
    ) throws(Failure) {
        let (chunk, offset) = place(of: index)
        try body(&chunks[chunk][offset])
    }

    /// Takes elements out, which must be there, and puts others in their place.
    mutating func perform(_ splice: Patch.Splice) {
        let (chunk, start) = place(of: splice.offset)
        let end = min(start + splice.removed, chunks[chunk].count)
        var rest = splice.removed - (end - start)
        chunks[chunk].replaceSubrange(start..<end, with: splice.inserted)
        var next = chunk + 1
        while rest > 0, rest >= chunks[next].count {
            rest -= chunks[next].count
            next += 1
        }
        if rest > 0 { chunks[next].removeFirst(rest) }
        chunks.removeSubrange(chunk + 1..<next)
        count += splice.inserted.count - splice.removed
        if isCut, chunks[chunk].count > Self.countMax {
            chunks.replaceSubrange(chunk...chunk, with: Self.cut(chunks[chunk]))
        } else if chunks[chunk].isEmpty, chunks.count > 1 {
            chunks.remove(at: chunk)
        }
    }

    /// Where an element is; for the end, the place behind the last.
    private func place(of index: Int) -> (chunk: Int, offset: Int) {
        var offset = index
        for chunk in chunks.indices.dropLast() {
            if offset < chunks[chunk].count { return (chunk, offset) }
            offset -= chunks[chunk].count
        }
        return (chunks.count - 1, offset)
    }

    /// Chunks that are half full, so that the next elements find room; at least one.
    private static func cut(_ elements: [Value]) -> [[Value]] {
        guard elements.count > countMax else { return [elements] }
        return stride(from: 0, to: elements.count, by: countMax / 2).map { start in
            Array(elements[start..<min(start + countMax / 2, elements.count)])
        }
    }
}
