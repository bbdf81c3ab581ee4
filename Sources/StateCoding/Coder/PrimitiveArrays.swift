// The usual elements of large arrays, without finding out for each one what it is. These stand outside of `Array`, so that
// they are compiled for each of the types. Where one array is cast to another their types are equal, which the compiler
// cannot know.

/// Writes the elements, if they are of such a type.
func writePrimitives<Element>(_ elements: [Element], to output: EncodingOutput, at place: Place) throws -> Bool {
    if Element.self == Int.self { return try write(unsafeBitCast(elements, to: [Int].self), output, place) }
    if Element.self == Double.self { return try write(unsafeBitCast(elements, to: [Double].self), output, place) }
    if Element.self == String.self { return try write(unsafeBitCast(elements, to: [String].self), output, place) }
    return false
}

/// Reads so many elements, if they are of such a type.
func readPrimitives<Element>(
    _ type: Element.Type,
    _ count: Int,
    _ cursor: inout ItemCursor,
    at place: Place
) throws -> [Element]? {
    if type == Int.self { return unsafeBitCast(try read(Int.self, count, &cursor, place), to: [Element].self) }
    if type == Double.self { return unsafeBitCast(try read(Double.self, count, &cursor, place), to: [Element].self) }
    if type == String.self { return unsafeBitCast(try read(String.self, count, &cursor, place), to: [Element].self) }
    return nil
}

private func write<P: Primitive>(_ elements: [P], _ output: EncodingOutput, _ place: Place) throws -> Bool {
    for element in elements {
        guard element.isReadable else {
            let index = elements.firstIndex { !$0.isReadable } ?? 0
            throw try Place(node: place.open(), key: DataKey.index(index))
                .failure(.unencodable, CodingFailure.tooManyMarks)
        }
        element.write(to: &output.writer)
    }
    return true
}

private func read<P: Primitive>(
    _ type: P.Type,
    _ count: Int,
    _ cursor: inout ItemCursor,
    _ place: Place
) throws -> [P] {
    var result: [P] = []
    result.reserveCapacity(cursor.reservation(of: type, count))
    for index in 0..<count {
        let usual = P.readUsual(&cursor)
        result.append(try usual ?? P.read(&cursor, at: Place(node: place.open(), key: DataKey.index(index))))
    }
    return result
}
