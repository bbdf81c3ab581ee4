/// What one change of a source means for a part of it.
@usableFromInline
struct ScopeTurn<Value: Sendable>: Sendable {
    /// The part before; nil in the replay, and where the part stayed what it was.
    @usableFromInline let old: Value?
    @usableFromInline let oldRevision: UInt64?
    /// The part after; where it stayed what it was, the one that the next is to be compared with.
    @usableFromInline let new: Value
    @usableFromInline let revision: UInt64
    /// Whether there is anything to tell.
    @usableFromInline let isChanged: Bool

    @inlinable
    init(old: Value?, oldRevision: UInt64?, new: Value, revision: UInt64, isChanged: Bool) {
        self.old = old
        self.oldRevision = oldRevision
        self.new = new
        self.revision = revision
        self.isChanged = isChanged
    }
}
