/// An order of keys, given by a type: it costs a tree no memory, and two trees of one type have the same order.
///
/// Two keys are the same if neither precedes the other. An order that contradicts itself (NaN among floats) gives odd
/// results, but never unsafe ones.
@usableFromInline
protocol KeyOrder<Key> {
    associatedtype Key

    static func precedes(_ left: Key, _ right: Key) -> Bool
}

/// The order of `<`.
@usableFromInline
enum AscendingOrder<Key: Comparable>: KeyOrder {
    @inlinable
    static func precedes(_ left: Key, _ right: Key) -> Bool { left < right }
}
