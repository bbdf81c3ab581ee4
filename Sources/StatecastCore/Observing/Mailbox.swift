public import StatecastThreading
public import Synchronization

/// A queue whose elements are handled one at a time, in order, in another execution context.
///
/// At most one reader is active. It starts when an element is enqueued and no reader is active, and runs until the
/// queue is empty. The order is therefore kept even if several threads could read. The reader takes all queued elements
/// at once, so that it seldom contends with the thread that enqueues.
///
/// Inlinable, so that connections specialize it for their props.
@usableFromInline
final class Mailbox<Element: Sendable>: Sendable {
    @usableFromInline typealias Handler = @Sendable (Element) -> Void

    @usableFromInline
    struct Content: ~Copyable {
        /// Nil after the mailbox is closed.
        @usableFromInline var handler: Handler?
        @usableFromInline var elements = FIFO<Element>()
        @usableFromInline var hasReader = false

        @inlinable
        init(handler: @escaping Handler) { self.handler = handler }
    }

    @usableFromInline let lock = Lock()
    /// Safe: accessed only while the lock is held.
    @usableFromInline nonisolated(unsafe) let content: UnsafeMutablePointer<Content>
    /// The elements that the reader has taken. Safe: only the active reader accesses it.
    @usableFromInline nonisolated(unsafe) let taken: UnsafeMutablePointer<FIFO<Element>>
    @usableFromInline let isClosed = Atomic(false)
    /// Whether there are elements that the reader has not taken.
    @usableFromInline let hasQueued = Atomic(false)
    @usableFromInline let start: @Sendable (Mailbox) -> Void

    /// - Parameters:
    ///   - handler: retained until the mailbox is closed; the reader of a component has its own.
    ///   - startReader: calls `dequeue()` until it returns nil, now or later.
    @inlinable
    init(for handler: @escaping Handler = { _ in }, startReader: @escaping @Sendable (Mailbox) -> Void) {
        content = .allocate(capacity: 1)
        content.initialize(to: Content(handler: handler))
        taken = .allocate(capacity: 1)
        taken.initialize(to: FIFO())
        start = startReader
    }

    deinit {
        content.deinitialize(count: 1)
        content.deallocate()
        taken.deinitialize(count: 1)
        taken.deallocate()
    }

    /// The handler, or nil after the mailbox is closed.
    var handler: Handler? {
        lock.lock()
        defer { lock.unlock() }
        return content.pointee.handler
    }

    /// Enqueues an element; a closed mailbox drops it. Returns whether the caller must call ``startReader()``, outside
    /// of all locks.
    @inlinable
    func enqueue(_ element: consuming Element) -> Bool {
        lock.lock()
        guard !isClosed.load(ordering: .relaxed) else {
            lock.unlock()
            return false
        }
        content.pointee.elements.append(element)
        hasQueued.store(true, ordering: .relaxed)
        let needsReader = !content.pointee.hasReader
        content.pointee.hasReader = true
        lock.unlock()
        return needsReader
    }

    /// Starts the reader as ``enqueue(_:)`` demands. The reader may handle elements before this returns.
    @inlinable
    func startReader() { start(self) }

    /// Dequeues an element for the reader. If it returns nil, the reader is no longer active.
    @inlinable
    func dequeue() -> Element? {
        if taken.pointee.count == 0 || isClosed.load(ordering: .acquiring), !takeQueued() { return nil }
        return taken.pointee.popFirst()
    }

    /// Waits some microseconds for an element before the reader ends. To wake a thread takes longer, and a reader that
    /// handles elements faster than they arrive would wake one for each. Must not be called on a component's actor or
    /// executor, whose other jobs would wait, too.
    @inlinable
    func awaitQueued() {
        guard taken.pointee.count == 0 else { return }
        for _ in 0..<Self.maxPolls where !hasQueued.load(ordering: .relaxed) { Threads.yield() }
    }

    @inlinable static var maxPolls: Int { 32 }

    /// Takes all queued elements. Returns false if there are none: the reader is no longer active, and another one may
    /// already take elements.
    @inlinable
    func takeQueued() -> Bool {
        // A closed mailbox. Released outside the lock, because a release may run user code that accesses the mailbox.
        if taken.pointee.count > 0 { taken.pointee = FIFO() }
        lock.lock()
        swap(&content.pointee.elements, &taken.pointee)
        hasQueued.store(false, ordering: .relaxed)
        let isActive = taken.pointee.count > 0
        content.pointee.hasReader = isActive
        lock.unlock()
        return isActive
    }

    /// Releases the handler and the queued elements, after which nothing is dequeued. An active reader releases the
    /// elements that it has taken.
    @usableFromInline
    func close() {
        var elements = FIFO<Element>()
        lock.lock()
        isClosed.store(true, ordering: .releasing)
        swap(&content.pointee.elements, &elements)
        let handler = content.pointee.handler.take()
        lock.unlock()
        // Released outside the lock, because a release may run user code that accesses the mailbox.
        withExtendedLifetime(handler) {}
    }
}

extension Mailbox {
    /// The number of elements that a reader handles before it yields its thread.
    private static var maxElementsInARow: Int { 64 }

    /// Creates a mailbox whose elements are handled in a context: by `startReader()` itself if the caller already runs
    /// in the context, otherwise later.
    convenience init(in context: Delivery.Context, handler: @escaping Handler) {
        self.init(for: handler) { mailbox in
            if context.isCurrent() {
                mailbox.read(in: context)
            } else {
                context.schedule { mailbox.read(in: context) }
            }
        }
    }

    private func read(in context: Delivery.Context) {
        guard let handler else {
            // Closed: releases what was taken.
            _ = dequeue()
            return
        }
        for _ in 0..<Self.maxElementsInARow {
            guard let element = dequeue() else { return }
            handler(element)
        }
        context.schedule { self.read(in: context) }
    }
}
