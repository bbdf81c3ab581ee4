internal import Synchronization

/// Which types are shaped here. Asking the runtime takes longer than coding a field, so its answers are kept.
enum ShapedTypes {
    /// What is known of a type; made once, never changed, never freed.
    struct Answer {
        fileprivate let type: ObjectIdentifier
        let encodable: (any ShapedEncodable.Type)?
        let decodable: (any ShapedDecodable.Type)?
        /// Whose `==` tells whether a value changed.
        let equatable: (any Equatable.Type)?

        fileprivate init(_ type: Any.Type) {
            self.type = ObjectIdentifier(type)
            encodable = type as? any ShapedEncodable.Type
            decodable = type as? any ShapedDecodable.Type
            equatable = type is any SelfComparing.Type ? nil : type as? any Equatable.Type
        }
    }

    private typealias Slot = Atomic<UnsafePointer<Answer>?>

    /// A slot keeps the first type that comes to it; others are asked for each time.
    private struct Slots: @unchecked Sendable {
        static let count = 1024
        // As old as the process, and only ever accessed as atomics.
        let first: UnsafeMutablePointer<Slot>

        init() {
            first = .allocate(capacity: Self.count)
            for index in 0..<Self.count { (first + index).initialize(to: Slot(nil)) }
        }
    }

    private static let slots = Slots()

    static func answer(for type: Any.Type) -> Answer {
        let identity = ObjectIdentifier(type)
        let address = UInt(bitPattern: identity)
        // Metadata is aligned, and that of one module's types lies close together.
        let slot = slots.first + Int((address >> 4 ^ address >> 13) % UInt(Slots.count))
        if let known = slot.pointee.load(ordering: .acquiring) {
            return known.pointee.type == identity ? known.pointee : Answer(type)
        }
        let new = UnsafeMutablePointer<Answer>.allocate(capacity: 1)
        new.initialize(to: Answer(type))
        let answer = new.pointee
        if !slot.pointee.compareExchange(expected: nil, desired: UnsafePointer(new), ordering: .acquiringAndReleasing)
            .exchanged
        {
            new.deallocate()
        }
        return answer
    }
}
