/// Listeners in the order in which they came, in memory of its own: going through them counts no references.
///
/// For the drainer only, in whose turns it changes and is gone through, never both at once. A value in name only: there is one
/// owner, who calls `removeAll` in the end.
@usableFromInline
struct ListenerList<Event> {
    @usableFromInline var slots: UnsafeMutablePointer<Unmanaged<Listener<Event>>>
    @usableFromInline var count = 0
    private var capacity = 1

    init() { slots = .allocate(capacity: capacity) }

    @inlinable var isEmpty: Bool { count == 0 }

    mutating func append(_ listener: Listener<Event>) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Unmanaged<Listener<Event>>>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: slots, count: count)
            slots.deallocate()
            slots = larger
            capacity *= 2
        }
        (slots + count).initialize(to: .passRetained(listener))
        count += 1
    }

    /// Says whether it was there.
    mutating func remove(_ listener: Listener<Event>) -> Bool {
        guard
            let index = (0..<count).first(where: {
                slots[$0].toOpaque() == Unmanaged.passUnretained(listener).toOpaque()
            })
        else { return false }
        let removed = slots[index]
        (slots + index).update(from: slots + index + 1, count: count - index - 1)
        count -= 1
        // Last: what goes with it is other people's code.
        removed.release()
        return true
    }

    /// Ends the list.
    mutating func removeAll() {
        let (former, formerCount) = (slots, count)
        count = 0
        for index in 0..<formerCount { former[index].release() }
        former.deallocate()
    }

    @inlinable
    func deliver(_ event: Event) {
        for index in 0..<count { slots[index]._withUnsafeGuaranteedRef { $0.deliver(event) } }
    }
}
