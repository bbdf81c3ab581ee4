/// The elements of an array while patches change it, one after the other.
///
/// For many splices, each of which would move all elements after it, the array is split into chunks. Patches of an
/// element are stored with the element and move with it, so that each element changes once.
struct ChunkedElements<Element, Change, Failure: Error> {
    /// The patches of one element, none of them a sequence.
    private struct Waiting {
        /// The index of the element when its first patch came.
        let index: Int
        var patches: [Change]
    }

    private struct Chunk {
        var elements: [Element]
        /// The index in `waiting` for each element; empty as long as no element has patches.
        var waiting: [Int?] = []
    }

    private static var maxCount: Int { 512 }
    /// Up to this number of splices cost less than splitting the array.
    private static var maxSplices: Int { 32 }

    private var chunks: [Chunk]
    /// The number of elements of each chunk. Stored separately because reading a generic chunk's count is slow.
    private var counts: [Int]
    private(set) var count: Int
    private let isSplit: Bool
    private var waiting: [Waiting] = []
    private let patch: (inout Element, Int, [Change]) throws(Failure) -> Void

    /// - Parameter patch: Applies its patches to an element, whose index was this one when the first of them came.
    init(
        _ elements: consuming [Element],
        forSplices splices: Int,
        patch: @escaping (inout Element, Int, [Change]) throws(Failure) -> Void
    ) {
        count = elements.count
        isSplit = splices > Self.maxSplices
        chunks = isSplit ? Self.split(Chunk(elements: elements)) : [Chunk(elements: elements)]
        counts = chunks.map(\.elements.count)
        self.patch = patch
    }

    /// Adds patches of an element, none of them a sequence.
    ///
    /// - Precondition: The element exists.
    mutating func change(at index: Int, by patches: [Change]) {
        let (chunk, offset) = position(of: index)
        if chunks[chunk].waiting.isEmpty {
            chunks[chunk].waiting = Array(repeating: nil, count: counts[chunk])
        }
        if let slot = chunks[chunk].waiting[offset] {
            waiting[slot].patches += patches
        } else {
            chunks[chunk].waiting[offset] = waiting.count
            waiting.append(Waiting(index: index, patches: patches))
        }
    }

    /// Replaces elements.
    ///
    /// - Precondition: The elements exist.
    mutating func splice(at index: Int, removing removed: Int, inserting inserted: [Element]) throws(Failure) {
        let (chunk, start) = position(of: index)
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
        if isSplit, counts[chunk] > Self.maxCount {
            exchange(chunk..<chunk + 1, for: Self.split(chunks[chunk]))
        } else if counts[chunk] == 0, chunks.count > 1 {
            exchange(chunk..<chunk + 1, for: [])
        }
    }

    private mutating func exchange(_ range: Range<Int>, for new: [Chunk]) {
        if range.isEmpty && new.isEmpty { return }
        chunks.replaceSubrange(range, with: new)
        counts.replaceSubrange(range, with: new.map(\.elements.count))
    }

    /// The elements after all patches.
    consuming func finish() throws(Failure) -> [Element] {
        for chunk in chunks.indices { try applyWaiting(chunks[chunk].waiting.indices, of: chunk) }
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
            // The patches of removed elements must fit, too.
            try applyWaiting(range, of: chunk)
            chunks[chunk].waiting.replaceSubrange(range, with: repeatElement(nil, count: inserted.count))
        }
        chunks[chunk].elements.replaceSubrange(range, with: inserted)
        counts[chunk] += inserted.count - range.count
    }

    private mutating func applyWaiting(_ range: Range<Int>, of chunk: Int) throws(Failure) {
        // Copied once, as access to a part of a generic type is slow.
        let slots = chunks[chunk].waiting
        for offset in range {
            guard let slot = slots[offset] else { continue }
            try patch(&chunks[chunk].elements[offset], waiting[slot].index, waiting[slot].patches)
        }
    }

    /// The chunk of an element, and its offset there; for the end, the offset after the last element.
    private func position(of index: Int) -> (chunk: Int, offset: Int) {
        var (chunk, offset) = (0, index)
        while chunk < counts.count - 1, offset >= counts[chunk] {
            offset -= counts[chunk]
            chunk += 1
        }
        return (chunk, offset)
    }

    /// Splits a chunk into chunks that are half full.
    private static func split(_ chunk: Chunk) -> [Chunk] {
        let (elements, waiting) = (chunk.elements, chunk.waiting)
        guard elements.count > maxCount else { return [chunk] }
        return stride(from: 0, to: elements.count, by: maxCount / 2).map { start in
            let range = start..<min(start + maxCount / 2, elements.count)
            return Chunk(elements: Array(elements[range]), waiting: waiting.isEmpty ? [] : Array(waiting[range]))
        }
    }
}
