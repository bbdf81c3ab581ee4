internal import Synchronization

/// What is known of types. Asking the runtime takes longer than coding a field, so its answers are kept, as long as the
/// process lives.
struct TypeTable<Answer>: @unchecked Sendable {
    private struct Entry {
        let type: ObjectIdentifier
        let answer: Answer
    }

    private typealias Slot = Atomic<UnsafePointer<Entry>?>

    private static var count: Int { 1024 }
    /// In how many slots an answer may be: types share them, and what finds none is asked for each time.
    private static var neighbours: Int { 8 }

    // Never freed, and only ever accessed as atomics; the entries do not change.
    private let slots: UnsafeMutablePointer<Slot>

    init() {
        slots = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (slots + index).initialize(to: Slot(nil)) }
    }

    @inline(__always)
    func answer(for type: Any.Type, _ make: () -> Answer) -> Answer {
        let identity = ObjectIdentifier(type)
        let address = UInt(bitPattern: identity)
        // Metadata is aligned, and that of one module's types lies close together.
        let home = Int((address >> 4 ^ address >> 13) % UInt(Self.count))
        if let known = (slots + home).pointee.load(ordering: .acquiring), known.pointee.type == identity {
            return known.pointee.answer
        }
        return answer(for: identity, awayFrom: home, make)
    }

    @inline(never)
    private func answer(for type: ObjectIdentifier, awayFrom home: Int, _ make: () -> Answer) -> Answer {
        for index in home..<(home + Self.neighbours) {
            let slot = slots + index % Self.count
            if slot.pointee.load(ordering: .acquiring) == nil { fill(slot, type, make) }
            if let known = slot.pointee.load(ordering: .acquiring), known.pointee.type == type {
                return known.pointee.answer
            }
        }
        return make()
    }

    private func fill(_ slot: UnsafeMutablePointer<Slot>, _ type: ObjectIdentifier, _ make: () -> Answer) {
        let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
        entry.initialize(to: Entry(type: type, answer: make()))
        let (isFilled, _) = slot.pointee.compareExchange(
            expected: nil,
            desired: UnsafePointer(entry),
            ordering: .acquiringAndReleasing
        )
        if isFilled { return }
        entry.deinitialize(count: 1)
        entry.deallocate()
    }
}
