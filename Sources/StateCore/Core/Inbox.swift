/// What a core has been asked to do and has not done yet, in order, and who is to hear of it.
///
/// At most one thread drains at a time, and nothing waits while nobody drains. Every request passes through
/// here, an observer's coming in too: that is what makes an earlier dispatch visible in a replay.
struct Inbox<State: Sendable> {
    /// One request.
    enum Entry {
        case reduce(any Action)
        case admit(Observer<State>)
    }

    /// One request whose turn has come, with the observers as they stand at that moment.
    struct Turn {
        let entry: Entry
        let observers: [Observer<State>]
    }

    private var waiting = FIFO<Entry>()
    private var isDraining = false
    private var observers: [Observer<State>] = []

    /// Takes a request in. If nobody drains, it is the caller's turn at once; otherwise it waits (nil).
    mutating func enter(_ entry: Entry) -> Turn? {
        if isDraining {
            waiting.append(entry)
            return nil
        }
        isDraining = true
        return turn(of: entry)
    }

    /// The drainer's next turn; nil if nothing waits, and then draining has ended.
    mutating func next() -> Turn? {
        guard let entry = waiting.popFirst() else {
            isDraining = false
            return nil
        }
        return turn(of: entry)
    }

    /// Takes an observer off the list, and hands it out so that what it holds is released outside the lock.
    mutating func remove(_ observer: Observer<State>) -> Observer<State>? {
        guard let index = observers.firstIndex(where: { $0 === observer }) else { return nil }
        return observers.remove(at: index)
    }

    private mutating func turn(of entry: Entry) -> Turn {
        // One that was cancelled while it waited is past its removal: it must not be listed any more.
        if case .admit(let observer) = entry, observer.isActive {
            observers.append(observer)
        }
        return Turn(entry: entry, observers: observers)
    }
}

extension Inbox.Entry: Sendable {}
extension Inbox.Turn: Sendable {}
