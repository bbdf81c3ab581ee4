/// The elements of an array while patches change it, one after the other.
///
/// Many splices would each move all that follows, so the elements are cut into chunks then. What is to become of an
/// element waits beside it and moves along with it, so that each element is gone into once, and not for each patch.
struct ChunkedElements<Element, Failure: Error> {
    /// The patches of one element, none of them a sequence.
    struct Waiting {
        /// Where the element was when the first one came.
        let index: Int
        var patches: [Patch]

        /// All of them as one.
        var patch: Patch { patches.count == 1 ? patches[0] : Patch(.sequence(patches)) }
    }

    private struct Chunk {
        var elements: [Element]
        /// For each element, what waits for it; none at all as long as nothing does.
        var waiting: [Int?] = []
    }

    private static var countMax: Int { 512 }
    /// So few splices cost less than cutting the array.
    private static var splicesMax: Int { 32 }

    private var chunks: [Chunk]
    /// How many elements each chunk has: asking the chunks, of a generic type, takes long where there are many.
    private var counts: [Int]
    private(set) var count: Int
    private let isCut: Bool
    private var waiting: [Waiting] = []
    private let patch: (inout Element, Waiting) throws(Failure) -> Void

    /// - Parameter patch: Does to an element what waits for it.
    init(
        _ elements: consuming [Element],
        forSplices splices: Int,
        patch: @escaping (inout Element, Waiting) throws(Failure) -> Void
    ) {
        count = elements.count
        isCut = splices > Self.splicesMax
        chunks = isCut ? Self.cut(Chunk(elements: elements)) : [Chunk(elements: elements)]
        counts = chunks.map(\.elements.count)
        self.patch = patch
    }

    /// Has a patch wait for an element, which must be there.
    mutating func change(at index: Int, by patch: Patch) {
        let (chunk, offset) = place(of: index)
        if chunks[chunk].waiting.isEmpty {
            chunks[chunk].waiting = Array(repeating: nil, count: counts[chunk])
        }
        if let slot = chunks[chunk].waiting[offset] {
            waiting[slot].patches += patch.parts
        } else {
            chunks[chunk].waiting[offset] = waiting.count
            waiting.append(Waiting(index: index, patches: patch.parts))
        }
    }

    /// Takes elements out, which must be there, and puts others in their place.
    mutating func splice(at index: Int, removing removed: Int, inserting inserted: [Element]) throws(Failure) {
        let (chunk, start) = place(of: index)
        let end = min(start + removed, counts[chunk])
        var rest = removed - (end - start)
        try replace(start..<end, of: chunk, with: inserted)
        var next = chunk + 1
        while rest > 0 {
            let end = min(rest, counts[next])
            try replace(0..<end, of: next, with: [])
            rest -= end
            if counts[next] == 0 { next += 1 }
        }
        exchange(chunk + 1..<next, for: [])
        count += inserted.count - removed
        if isCut, counts[chunk] > Self.countMax {
            exchange(chunk..<chunk + 1, for: Self.cut(chunks[chunk]))
        } else if counts[chunk] == 0, chunks.count > 1 {
            exchange(chunk..<chunk + 1, for: [])
        }
    }

    private mutating func exchange(_ range: Range<Int>, for new: [Chunk]) {
        if range.isEmpty && new.isEmpty { return }
        chunks.replaceSubrange(range, with: new)
        counts.replaceSubrange(range, with: new.map(\.elements.count))
    }

    /// The elements, with nothing waiting any more.
    consuming func finish() throws(Failure) -> [Element] {
        for chunk in chunks.indices { try settle(chunks[chunk].waiting.indices, of: chunk) }
        if chunks.count == 1 { return chunks[0].elements }
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for chunk in chunks { elements += chunk.elements }
        return elements
    }

    private mutating func replace(
        _ range: Range<Int>,
        of chunk: Int,
        with inserted: [Element]
    ) throws(Failure) {
        if !chunks[chunk].waiting.isEmpty {
            // What goes must fit, too.
            try settle(range, of: chunk)
            chunks[chunk].waiting.replaceSubrange(range, with: repeatElement(nil, count: inserted.count))
        }
        chunks[chunk].elements.replaceSubrange(range, with: inserted)
        counts[chunk] += inserted.count - range.count
    }

    private mutating func settle(_ range: Range<Int>, of chunk: Int) throws(Failure) {
        // Taken out first, as it takes long to get at a part of a generic type for each element.
        let slots = chunks[chunk].waiting
        for offset in range {
            guard let slot = slots[offset] else { continue }
            try patch(&chunks[chunk].elements[offset], waiting[slot])
        }
    }

    /// Where an element is; for the end, the place behind the last.
    private func place(of index: Int) -> (chunk: Int, offset: Int) {
        var (chunk, offset) = (0, index)
        while chunk < counts.count - 1, offset >= counts[chunk] {
            offset -= counts[chunk]
            chunk += 1
        }
        return (chunk, offset)
    }

    /// Chunks that are half full, so that the next elements find room; at least one.
    private static func cut(_ chunk: Chunk) -> [Chunk] {
        let (elements, waiting) = (chunk.elements, chunk.waiting)
        guard elements.count > countMax else { return [chunk] }
        return stride(from: 0, to: elements.count, by: countMax / 2).map { start in
            let range = start..<min(start + countMax / 2, elements.count)
            return Chunk(elements: Array(elements[range]), waiting: waiting.isEmpty ? [] : Array(waiting[range]))
        }
    }
}
