internal import Threading

/// A queue whose elements are handled one at a time, in order, in another execution context.
///
/// At most one reader is active. It starts when an element is enqueued and no reader is active, and runs until the
/// queue is empty. The order is therefore kept even if several threads could read.
final class Mailbox<Element: Sendable, Handler: Sendable>: Sendable {
    private struct Content {
        /// Nil after the mailbox is closed.
        var handler: Handler?
        var elements = FIFO<Element>()
        var hasReader = false
    }

    private let content: Locked<Content>
    private let start: @Sendable (Mailbox) -> Void

    /// - Parameter startReader: calls `dequeue()` until it returns nil, now or later.
    init(for handler: Handler, startReader: @escaping @Sendable (Mailbox) -> Void) {
        content = Locked(Content(handler: handler))
        start = startReader
    }

    /// Enqueues an element; a closed mailbox drops it. Returns whether the caller must call ``startReader()``, outside
    /// of all locks.
    func enqueue(_ element: Element) -> Bool {
        content.withLock { content in
            guard content.handler != nil else { return false }
            content.elements.append(element)
            defer { content.hasReader = true }
            return !content.hasReader
        }
    }

    /// Starts the reader as ``enqueue(_:)`` demands. The reader may handle elements before this returns.
    func startReader() { start(self) }

    /// Dequeues an element for the reader. If it returns nil, the reader is no longer active.
    func dequeue() -> (element: Element, handler: Handler)? {
        content.withLock { content in
            guard let handler = content.handler, let element = content.elements.popFirst() else {
                content.hasReader = false
                return nil
            }
            return (element, handler)
        }
    }

    /// Releases the handler and all elements. Nothing is dequeued afterwards.
    func close() {
        // Released outside the lock: the release may run user code that accesses the mailbox.
        let former = content.withLock { content in
            let former = content
            content.handler = nil
            content.elements = FIFO()
            return former
        }
        withExtendedLifetime(former) {}
    }
}

extension Mailbox where Handler == @Sendable (Element) -> Void {
    /// The number of elements that a reader handles before it yields its thread.
    private static var elementsInARowMax: Int { 64 }

    /// Creates a mailbox whose elements are handled in a context: by `startReader()` itself if the caller already runs
    /// in the context, otherwise later.
    convenience init(in context: Delivery.Context, handler: @escaping @Sendable (Element) -> Void) {
        self.init(for: handler) { mailbox in
            if context.isCurrent() {
                mailbox.read(in: context)
            } else {
                context.schedule { mailbox.read(in: context) }
            }
        }
    }

    private func read(in context: Delivery.Context) {
        for _ in 0..<Self.elementsInARowMax {
            guard let (element, handler) = dequeue() else { return }
            handler(element)
        }
        context.schedule { self.read(in: context) }
    }
}
