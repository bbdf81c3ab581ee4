/// The single-value container of a `FieldCollector`: takes the content of a newtype, a type that is nothing but one value
/// of another type, and looks like it in the encoding.
struct NewtypeContainer: SingleValueEncodingContainer {
    let collector: FieldCollector

    var codingPath: [any CodingKey] { collector.codingPath }

    mutating func encodeNil() throws { collector.collectContent(nil) }
    mutating func encode<T: Encodable>(_ value: T) throws { collector.collectContent(value) }
}

/// The change between the contents of two newtypes.
///
/// - Returns: `nil` if their types differ.
func compareContents<T: Encodable>(
    _ old: T,
    _ new: any Encodable,
    at place: Place,
    path: DigestPath
) throws -> Compared? {
    func compare<U: Encodable>(_ new: U) throws -> Compared? {
        guard U.self == T.self else { return nil }
        // They are one type, which the compiler cannot know.
        return Compared(change: try changeOfTree(from: old, to: unsafeBitCast(new, to: T.self), at: place, path: path))
    }
    return try compare(new)
}
