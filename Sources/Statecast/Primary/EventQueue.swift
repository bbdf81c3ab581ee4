import StatecastThreading

/// Events from any thread for a loop, in order.
final class EventQueue<Event: Sendable>: Sendable {
    private let events = Locked<[Event]>([])
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called when an event arrives in the empty queue.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func append(_ event: Event) {
        let isFirst = events.withLock { events in
            events.append(event)
            return events.count == 1
        }
        if isFirst { wake() }
    }

    func dequeueAll() -> [Event] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
