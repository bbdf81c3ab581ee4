internal import Locking

/// Where letters wait for a reader elsewhere: who posts does not wait, and the order is kept.
///
/// There is at most one reader at a time. It is called for when a letter comes in and none is at work, and goes on until
/// there is nothing to take. So the order holds also where several threads could read at once.
final class Mailbox<Letter: Sendable, Handler: Sendable>: Sendable {
    private struct Content {
        /// What letters are for; nil once the box is closed.
        var handler: Handler?
        var letters = FIFO<Letter>()
        var hasReader = false
    }

    private let content: Locked<Content>
    private let callReader: @Sendable (Mailbox) -> Void

    /// - Parameter callReader: calls `take()` until it gives nil, at once or soon.
    init(for handler: Handler, callReader: @escaping @Sendable (Mailbox) -> Void) {
        content = Locked(Content(handler: handler))
        self.callReader = callReader
    }

    /// Puts a letter in, and calls for a reader if none is at work; a closed box drops it.
    func post(_ letter: Letter) {
        if put(letter) { callForReader() }
    }

    /// Puts a letter in; a closed box drops it. Returns whether the caller must call ``callForReader()``, after it has
    /// released its locks.
    func put(_ letter: Letter) -> Bool {
        content.withLock { content in
            guard content.handler != nil else { return false }
            content.letters.append(letter)
            defer { content.hasReader = true }
            return !content.hasReader
        }
    }

    /// Calls the reader that ``put(_:)`` asked for. It may take letters before this returns.
    func callForReader() { callReader(self) }

    /// The next letter, for the reader; nil if there is none, and then it is the reader no more.
    func take() -> (letter: Letter, handler: Handler)? {
        content.withLock { content in
            guard let handler = content.handler, let letter = content.letters.popFirst() else {
                content.hasReader = false
                return nil
            }
            return (letter, handler)
        }
    }

    /// Forgets all letters and whom they were for. Nothing is taken any more.
    func close() {
        // Ends outside the lock: what ends with it may come back here.
        let former = content.withLock { content in
            let former = content
            content.handler = nil
            content.letters = FIFO()
            return former
        }
        withExtendedLifetime(former) {}
    }
}

extension Mailbox where Handler == @Sendable (Letter) -> Void {
    /// After so many letters a reader lets others have the thread.
    private static var lettersInARowMax: Int { 64 }

    /// A box whose letters are handed to `handler` at a place: before `post` returns if the caller is there already and
    /// nothing waits, else later.
    convenience init(at place: Delivery.Place, handler: @escaping @Sendable (Letter) -> Void) {
        self.init(for: handler) { box in
            if place.isHere() {
                box.readHere(at: place)
            } else {
                box.read(at: place)
            }
        }
    }

    private func read(at place: Delivery.Place) {
        place.run { self.readHere(at: place) }
    }

    private func readHere(at place: Delivery.Place) {
        for _ in 0..<Self.lettersInARowMax {
            guard let (letter, handler) = take() else { return }
            handler(letter)
        }
        read(at: place)
    }
}
