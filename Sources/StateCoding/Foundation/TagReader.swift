/// A primitive that understands tags itself: what it refuses with a tag is not looked at again without.
///
/// A number of days is no number of seconds because its tag was in the way.
protocol TagReader: Primitive {}

extension TagReader {
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self {
        if let usual = readUsual(&cursor) { return usual }
        let value = cursor.value()
        if let result = Self(tree: value), cursor.source.takes(value, for: result.tree) { return result }
        let isNumber = DecimalNumber(sample.tree) != nil && DecimalNumber(value) != nil
        let code: CodingFailure.Code = isNumber ? .outOfRange : value.isNull ? .missingValue : .typeMismatch
        throw place.failure(code, "expected \(expected), got \(value.summary)")
    }
}
