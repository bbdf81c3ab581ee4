/// Something that somebody holds, and that says when nobody does any more.
final class Held: Sendable {
    private let release: @Sendable () -> Void

    init(onRelease release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }

    /// Has whoever calls this hold it.
    func touch() {}
}
