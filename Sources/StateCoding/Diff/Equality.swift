/// A type that finds what changed without looking at all of it, so that comparing it by `==` before saves nothing.
protocol SelfComparing {}

/// Whether two values of one type are `==`; `nil` if the type has no `==`, or need not be asked.
func areEqual<T>(_ left: T, _ right: T) -> Bool? {
    func compare<E: Equatable>(_ type: E.Type) -> Bool {
        // E is T, which the compiler cannot know; casting the values would cost more than most comparisons.
        unsafeBitCast(left, to: E.self) == unsafeBitCast(right, to: E.self)
    }
    return ShapedTypes.answer(for: T.self).equatable.map { compare($0) }
}

/// The `==` of a type, looked up once for many comparisons; `nil` if it has none.
func equality<T>(of type: T.Type) -> ((T, T) -> Bool)? {
    func make<E: Equatable>(_ type: E.Type) -> (T, T) -> Bool {
        // As above.
        { unsafeBitCast($0, to: E.self) == unsafeBitCast($1, to: E.self) }
    }
    return (type as? any Equatable.Type).map { make($0) }
}
