import StateCore
import Synchronization

/// Numbers in the order in which they were added.
struct Log: Codable, Equatable, Sendable {
    var entries: [Int] = []

    static let reducer = Reducer<Log> { log, action in
        guard let action = action as? Append else { return }
        log.entries.append(action.number)
    }
}

struct Append: Action, Equatable {
    var number: Int

    init(_ number: Int) {
        self.number = number
    }
}

/// A core that adds numbers to a log, under a clock that stands still.
func logCore() -> Core<Log> {
    Core(Log(), reducer: Log.reducer, now: { .epoch })
}

/// Collects what callbacks see, from any thread.
final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func record(_ element: Element) {
        elements.withLock { $0.append(element) }
    }
}

/// Something set later, from any thread: lets a callback reach what is made after it.
final class Box<Value: Sendable>: Sendable {
    private let stored: Mutex<Value?>

    init(_ value: Value? = nil) {
        stored = Mutex(value)
    }

    var value: Value? { stored.withLock { $0 } }

    func set(_ value: Value?) {
        // The former value ends outside the lock: its end may come back here.
        let former = stored.withLock { stored in
            let former = stored
            stored = value
            return former
        }
        withExtendedLifetime(former) {}
    }
}
