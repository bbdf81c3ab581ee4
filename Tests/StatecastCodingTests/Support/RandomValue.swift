import StatecastCoding

extension SeededGenerator {
    static let texts = [
        "", "a", "b", "key", "caf\u{E9}", "cafe\u{301}", "\u{1F600}", "long enough to leave the small form",
    ]
    static let numbers = [
        0.0, -0.0, 1.5, -2, 0.1, 1e300, .infinity, -.infinity, .nan, Double.leastNonzeroMagnitude, 65504, 65505,
    ]

    mutating func value(depth: Int = 3) -> Value {
        switch below(depth > 0 ? 10 : 7) {
        case 0: .null
        case 1: .bool(below(2) == 0)
        case 2: .unsigned(UInt64(below(3)))
        case 3: .negative(next() >> UInt64(below(64)))
        case 4: .float(pick(Self.numbers))
        case 5: .text(pick(Self.texts))
        case 6: .bytes((0..<below(4)).map { UInt8($0) })
        case 7: .array((0..<below(5)).map { _ in value(depth: depth - 1) })
        case 8: .map(ValueMap((0..<below(5)).map { _ in (key(), value(depth: depth - 1)) }))
        default: .tagged(UInt64(below(3)), value(depth: depth - 1))
        }
    }

    mutating func key() -> Value {
        switch below(4) {
        case 0: Value(below(300) - 150)
        case 1: .array([.text(pick(Self.texts))])
        default: .text(pick(Self.texts))
        }
    }

    /// The value with a few changed parts.
    mutating func changed(_ value: Value) -> Value {
        switch value {
        case .map(var map) where below(6) > 0:
            for (key, element) in map where below(3) == 0 {
                map[key] = below(4) == 0 ? Optional.none : changed(element)
            }
            if below(3) == 0 { map[key()] = self.value(depth: 1) }
            return .map(map)
        case .array(var elements) where below(6) > 0:
            for index in elements.indices where below(3) == 0 { elements[index] = changed(elements[index]) }
            if below(3) == 0 { elements.insert(self.value(depth: 1), at: below(elements.count + 1)) }
            if below(3) == 0, !elements.isEmpty { elements.remove(at: below(elements.count)) }
            return .array(elements)
        default: return self.value(depth: 2)
        }
    }
}
