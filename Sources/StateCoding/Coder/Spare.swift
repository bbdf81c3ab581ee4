internal import Synchronization

/// Keeps one object for the next one who needs such: most values are small, and making what codes them costs more than
/// coding them.
struct Spare<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    // Owns the object in it. Who takes it out has it for themselves, whatever the thread.
    private let object = Atomic<Unmanaged<Object>?>(nil)

    func take() -> Object? {
        object.exchange(nil, ordering: .acquiring)?.takeRetainedValue()
    }

    /// The object must not be known to anyone else.
    func keep(_ new: consuming Object) {
        object.exchange(Unmanaged.passRetained(new), ordering: .acquiringAndReleasing)?.release()
    }
}
