/// Whether two values of one type are `==`; `nil` if the type has no `==`.
func areEqual<T>(_ left: T, _ right: T) -> Bool? {
    func compare<E: Equatable>(_ left: E) -> Bool { (right as? E) == left }
    guard let left = left as? any Equatable else { return nil }
    return compare(left)
}

/// The `==` of a type, looked up once for many comparisons; `nil` if it has none.
func equality<T>(of type: T.Type) -> ((T, T) -> Bool)? {
    func make<E: Equatable>(_ type: E.Type) -> (T, T) -> Bool {
        // E is T, which the compiler cannot know; a cast for each element would cost more than the comparison.
        { unsafeBitCast($0, to: E.self) == unsafeBitCast($1, to: E.self) }
    }
    return (type as? any Equatable.Type).map { make($0) }
}
