/// A first-in, first-out queue.
///
/// Elements are stored in chunks of consecutive memory. The processor prefetches them, also after another processor
/// wrote them; of a linked list, each element would be a cache miss. An emptied queue keeps its last chunk, so that
/// short bursts allocate nothing. A consumer on another thread takes all elements at once: it swaps the queue with an
/// empty one.
@usableFromInline
struct FIFO<Element>: ~Copyable {
    @usableFromInline
    struct Chunk {
        @usableFromInline let elements = UnsafeMutablePointer<Element>.allocate(capacity: Self.capacity)
        @usableFromInline var appendedCount = 0
        @usableFromInline var poppedCount = 0
        @usableFromInline var next: UnsafeMutablePointer<Chunk>?

        @inlinable
        init() {}

        @inlinable static var capacity: Int { 64 }
    }

    /// The number of elements.
    @usableFromInline var count = 0
    // Nil until the first element is appended.
    @usableFromInline var first: UnsafeMutablePointer<Chunk>?
    @usableFromInline var last: UnsafeMutablePointer<Chunk>?

    @inlinable
    init() {}

    @inlinable
    deinit {
        var next = first
        while let chunk = next {
            let remaining = chunk.pointee.elements + chunk.pointee.poppedCount
            remaining.deinitialize(count: chunk.pointee.appendedCount - chunk.pointee.poppedCount)
            next = chunk.pointee.next
            Self.deallocate(chunk)
        }
    }

    @inlinable
    static func deallocate(_ chunk: UnsafeMutablePointer<Chunk>) {
        chunk.pointee.elements.deallocate()
        chunk.deallocate()
    }

    @inlinable
    mutating func append(_ element: consuming Element) {
        let chunk: UnsafeMutablePointer<Chunk>
        if let last, last.pointee.appendedCount < Chunk.capacity { chunk = last } else { chunk = appendChunk() }
        (chunk.pointee.elements + chunk.pointee.appendedCount).initialize(to: element)
        chunk.pointee.appendedCount += 1
        count += 1
    }

    @inlinable
    mutating func appendChunk() -> UnsafeMutablePointer<Chunk> {
        let chunk = UnsafeMutablePointer<Chunk>.allocate(capacity: 1)
        chunk.initialize(to: Chunk())
        if let last { last.pointee.next = chunk } else { first = chunk }
        last = chunk
        return chunk
    }

    @inlinable
    mutating func popFirst() -> Element? {
        guard count > 0, var chunk = first else { return nil }
        if chunk.pointee.poppedCount == chunk.pointee.appendedCount, let next = chunk.pointee.next {
            Self.deallocate(chunk)
            first = next
            chunk = next
        }
        let popped = chunk.pointee.elements + chunk.pointee.poppedCount
        chunk.pointee.poppedCount += 1
        count -= 1
        if count == 0 {
            chunk.pointee.appendedCount = 0
            chunk.pointee.poppedCount = 0
        }
        return popped.move()
    }
}
