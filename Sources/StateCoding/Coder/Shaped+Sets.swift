internal import HashTreeCollections

/// A collection of different elements in no order of its own: an array sorted by the encodings of the elements.
protocol SetCollection: ShapedEncodable, Collection, Equatable where Element: Encodable {}

extension SetCollection {
    func write(to output: EncodingOutput, at place: Place) throws {
        let node = try place.open()
        output.writer.array(count: count)
        let mark = output.mark
        for (index, element) in enumerated() {
            try output.beginEntry(element, at: Place(node: node, key: DataKey.index(index)))
        }
        guard output.endEntries(from: mark) else {
            throw place.failure(.unencodable, "two elements of the set have one encoding, so one would be lost")
        }
    }

    static var partTypes: [Any.Type] { [Element.self] }
}

/// The decoding side of `SetCollection`.
extension ShapedDecodable where Self: SetAlgebra, Element: Decodable {
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self {
        Self(try [Element].read(&cursor, at: place))
    }

    static var sample: Self { [] }
}

extension Set: ShapedEncodable, SetCollection where Element: Encodable {}
extension Set: ShapedDecodable where Element: Decodable {}
extension TreeSet: ShapedEncodable, SetCollection where Element: Encodable {}
extension TreeSet: ShapedDecodable where Element: Decodable {}
