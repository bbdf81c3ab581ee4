import StatecastCoding

/// A type whose values a generator creates and changes.
protocol Generated: Codable, Equatable, Sendable {
    static func make(_ generator: inout SeededGenerator) -> Self
    mutating func change(_ generator: inout SeededGenerator)
}

extension Generated {
    /// By default, a change replaces the value with another one.
    mutating func change(_ generator: inout SeededGenerator) { self = .make(&generator) }
}

protocol GeneratedKey: Generated, Comparable, Hashable {}

extension Int: GeneratedKey {
    static func make(_ generator: inout SeededGenerator) -> Int {
        generator.below(3) == 0 ? Int(truncatingIfNeeded: generator.next()) : generator.below(40) - 20
    }
}

extension UInt8: GeneratedKey {
    static func make(_ generator: inout SeededGenerator) -> UInt8 { UInt8(generator.below(256)) }
}

extension String: GeneratedKey {
    static func make(_ generator: inout SeededGenerator) -> String { generator.pick(SeededGenerator.texts) }
}

extension Bool: Generated {
    static func make(_ generator: inout SeededGenerator) -> Bool { generator.below(2) == 0 }
}

extension Double: Generated {
    /// Without NaN: a value that differs from itself has no laws.
    static func make(_ generator: inout SeededGenerator) -> Double {
        generator.pick(SeededGenerator.numbers.filter { !$0.isNaN })
    }
}

/// Keys that a dictionary's own coding writes as an alternating list.
enum Color: String, GeneratedKey {
    case red, green, blue

    static func make(_ generator: inout SeededGenerator) -> Color { generator.pick([.red, .green, .blue]) }
    static func < (left: Color, right: Color) -> Bool { left.rawValue < right.rawValue }
}

extension Optional: Generated where Wrapped: Generated {
    static func make(_ generator: inout SeededGenerator) -> Wrapped? {
        generator.below(3) == 0 ? nil : present(.make(&generator))
    }

    mutating func change(_ generator: inout SeededGenerator) {
        guard var wrapped = self, generator.below(3) > 0 else { return self = .make(&generator) }
        wrapped.change(&generator)
        self = Self.present(wrapped)
    }

    /// A value that is encoded as null must not be present.
    private static func present(_ wrapped: Wrapped) -> Wrapped? {
        (try? StateEncoder().value(of: wrapped)) == .null ? nil : wrapped
    }
}

extension Array: Generated where Element: Generated {
    static func make(_ generator: inout SeededGenerator) -> [Element] {
        (0..<generator.below(5)).map { _ in .make(&generator) }
    }

    mutating func change(_ generator: inout SeededGenerator) {
        switch generator.below(4) {
        case 0: insert(.make(&generator), at: generator.below(count + 1))
        case 1 where !isEmpty: remove(at: generator.below(count))
        case 2 where !isEmpty: self[generator.below(count)].change(&generator)
        default: for index in indices where generator.below(2) == 0 { self[index].change(&generator) }
        }
    }
}

extension Set: Generated where Element: GeneratedKey {
    static func make(_ generator: inout SeededGenerator) -> Set<Element> {
        Set((0..<generator.below(5)).map { _ in .make(&generator) })
    }

    mutating func change(_ generator: inout SeededGenerator) {
        let element = Element.make(&generator)
        if remove(element) == nil { insert(element) }
    }
}

extension Dictionary: Generated where Key: GeneratedKey, Value: Generated {
    static func make(_ generator: inout SeededGenerator) -> [Key: Value] {
        var result: [Key: Value] = [:]
        for _ in 0..<generator.below(5) { result.updateValue(.make(&generator), forKey: .make(&generator)) }
        return result
    }

    mutating func change(_ generator: inout SeededGenerator) {
        let key = generator.below(3) == 0 || isEmpty ? Key.make(&generator) : generator.pick(keys.sorted())
        switch generator.below(4) {
        case 0: self[key] = nil
        case 1: updateValue(.make(&generator), forKey: key)
        default: self[key]?.change(&generator)
        }
    }
}

extension Table: Generated where Key: GeneratedKey, Row: Generated {
    static func make(_ generator: inout SeededGenerator) -> Table { Table([Key: Row].make(&generator)) }

    mutating func change(_ generator: inout SeededGenerator) {
        let key = generator.below(3) == 0 || isEmpty ? Key.make(&generator) : generator.pick(Array(keys))
        switch generator.below(4) {
        case 0: removeValue(forKey: key)
        case 1: updateValue(.make(&generator), forKey: key)
        default: self[key]?.change(&generator)
        }
    }
}
