import StatecastCoding
import Testing

/// A type that encodes one value in a single-value container.
@Suite struct `A newtype` {
    @Test func `A newtype is patched like its content`() throws {
        try check(Table([("a", Step(step: 1)), ("b", Step(step: 2))]) { $1 }, #"{"b":{"step":[3]}}"#) {
            $0["b"]?.step = 3
        }
        try check(["a": 1, "b": 2], #"{"a":null,"c":[3]}"#) { ($0["a"], $0["c"]) = (nil, 3) }
        try check([1, 2, 3], #"[1,1,[]]"#) { $0.remove(at: 1) }
        try check(Array(0..<50), #"[{"9":[7]},[50,0,[50]]]"#) {
            $0[9] = 7
            $0.append(50)
        }
        try check(Set(0..<20), #"{"19":[77]}"#) {
            $0.remove(19)
            $0.insert(77)
        }
        try check(Step(step: 1), #"{"step":[2]}"#) { $0.step = 2 }
        try check(Newtype(content: Newtype(content: [1: 1, 2: 2])), #"{"2":[3]}"#) { $0.content.content[2] = 3 }
        try check([Int: Step]?.some([1: Step(step: 1)]), #"{"1":{"step":[2]}}"#) { $0?[1]?.step = 2 }
        try check(Optional(5), "[null]") { $0 = nil }
        try check("a", #"["b"]"#) { $0 = "b" }
    }

    private func check<Content: Codable & Equatable>(
        _ content: Content,
        _ expected: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout Content) -> Void
    ) throws {
        var changed = content
        change(&changed)
        let (old, new) = (Newtype(content: content), Newtype(content: changed))
        try checkNewtype(old, new, expected, sourceLocation)
        try checkNewtype(Held(value: old), Held(value: new), #"{"value":\#(expected)}"#, sourceLocation)
    }

    @Test func `A newtype costs as much as its content`() throws {
        let old = Held(value: Newtype(content: Table((0..<1000).map { ($0, Counted(number: $0)) }) { $1 }))
        var new = old
        new.value.content[7] = Counted(number: 0)
        try Counted.$codings.withValue(Kept(0)) {
            let patch = try Differ.patch(from: old, to: new).patch
            var state = old
            try patch.apply(to: &state)
            #expect(state == new)
            #expect(Counted.codings.value < 10)
        }
    }

    @Test func `A newtype is replaced where it becomes another type, or null`() throws {
        try checkNewtype(Several.number(1), Several.list([1, 2]), "[[1,2]]")
        try checkNewtype(Several.list([1, 2]), Several.names(["a": 1]), #"[{"a":1}]"#)
        try checkNewtype(Several.names(["a": 1]), Several.nothing, "[null]")
        try checkNewtype(Several.nothing, Several.list([]), "[[]]")
    }

    @Test func `A newtype is decoded as the type that it encoded, although it tries other types first`() throws {
        try checkNewtype(Several.list([1, 2]), Several.list([1, 3]), #"{"1":[3]}"#)
        try checkNewtype(Several.ratios([1, 2.5]), Several.ratios([1, 2]), #"{"1":[2.0]}"#)
        try checkNewtype(Several.names(["a": 1]), Several.names(["a": 2]), #"{"a":[2]}"#)
        try checkNewtype(Several.deep(["a": .list([1])]), Several.deep(["a": .list([2])]), #"{"a":{"0":[2]}}"#)
    }

    @Test func `A newtype is decoded as the type that it requests, even if it encodes another one`() throws {
        try checkNewtype(Widened(rows: ["a": 1, "b": 2]), Widened(rows: ["a": 9, "b": 2]), #"{"a":[9]}"#)
        try checkNewtype(Keyed(a: 1), Keyed(a: 2), #"{"a":[2]}"#)
        try checkNewtype(Maybe([1, 2]), Maybe([1, 3]), #"{"1":[3]}"#)
        try checkNewtype(Maybe([1, 2]), Maybe(nil), "[null]")
        try checkNewtype(Maybe(nil), Maybe([1]), "[[1]]")
    }

    @Test func `A newtype is refused by its own init only for the final value`() throws {
        var state = Ascending([1, 5])
        // Two splices; between them the value is 9 and 5.
        try Patch(decoding: [0x82, 0x83, 0, 1, 0x81, 9, 0x83, 1, 1, 0x81, 12]).apply(to: &state)
        #expect(state == Ascending([9, 12]))
        let failure = #expect(throws: CodingFailure.self) {
            try Patch(from: [9, 12], to: [9, 2]).apply(to: &state)
        }
        #expect(failure?.code == .refusedByType)
        #expect(state == Ascending([9, 12]))
    }

    @Test func `A newtype is decoded from its encoding if it requests more than its content`() throws {
        try checkNewtype(Peeking(numbers: ["a": 1, "b": 1]), Peeking(numbers: ["a": 2, "b": 1]), #"{"a":[2]}"#)
    }

    @Test func `A newtype is decoded once if it requests a key before its content`() throws {
        var state = Peeking(numbers: ["a": 1, "b": 1])
        let patch = try Differ.patch(from: state, to: Peeking(numbers: ["a": 2, "b": 1])).patch
        try Peeking.$contents.withValue(Kept(0)) {
            try Peeking.$looksFirst.withValue(true) { try patch.apply(to: &state) }
            #expect(Peeking.contents.value == 1)
        }
    }

    @Test func `A newtype may be null at the end of a sequence`() throws {
        var state = Maybe([1, 2])
        // A splice, then a replacement by null.
        try Patch(decoding: [0x82, 0x83, 0, 1, 0x80, 0x81, 0xF6]).apply(to: &state)
        #expect(state == Maybe(nil))
    }

    @Test func `A newtype is refused if it encodes two values, or a container besides`() {
        for way in Misfit.Way.allCases {
            let (old, new) = (Misfit(way: way, number: 1), Misfit(way: way, number: 2))
            let encoding = #expect(throws: CodingFailure.self) { try StateEncoder().encode(new) }
            let difference = #expect(throws: CodingFailure.self) { try Differ.patch(from: old, to: new) }
            #expect(difference?.message == encoding?.message, "\(way)")
        }
    }

    @Test func `A newtype may open containers that it does not use`() throws {
        let patch = try Differ.patch(from: Idle(a: 1), to: Idle(a: 2)).patch
        #expect(patch.description == #"{"a":[2]}"#)
    }
}

/// Checks the laws for two states, and that the patch between them is the expected one.
private func checkNewtype<State: Codable & Equatable>(
    _ old: State,
    _ new: State,
    _ expected: String,
    _ location: SourceLocation = #_sourceLocation
) throws {
    #expect(try checkLaws(from: old, to: new, at: location).description == expected, sourceLocation: location)
}

private struct Step: Codable, Equatable { var step: Int }
private struct Held<Content: Codable & Equatable>: Codable, Equatable { var value: Content }

/// Counts how often a value of this type is encoded or decoded.
private struct Counted: Codable, Equatable {
    @TaskLocal static var codings = Kept(0)
    var number: Int

    init(number: Int) { self.number = number }
    init(from decoder: any Decoder) throws {
        Counted.codings.value += 1
        number = try decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
        Counted.codings.value += 1
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// Encodes a type that depends on its state, and tries the types in order when it decodes.
private indirect enum Several: Codable, Equatable {
    case nothing, number(Int), list([Int]), ratios([Double]), names([String: Int]), deep([String: Several])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .nothing
        } else if let value = try? container.decode(Int.self) {
            self = .number(value)
        } else if let value = try? container.decode([Int].self) {
            self = .list(value)
        } else if let value = try? container.decode([Double].self) {
            self = .ratios(value)
        } else if let value = try? container.decode([String: Int].self) {
            self = .names(value)
        } else {
            self = .deep(try container.decode([String: Several].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .nothing: try container.encodeNil()
        case .number(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .ratios(let value): try container.encode(value)
        case .names(let value): try container.encode(value)
        case .deep(let value): try container.encode(value)
        }
    }
}

/// Decodes another type than it encodes.
private struct Widened: Codable, Equatable {
    var rows: [String: Int]

    init(rows: [String: Int]) { self.rows = rows }
    init(from decoder: any Decoder) throws {
        let table = try decoder.singleValueContainer().decode(Table<String, Int>.self)
        rows = Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) })
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rows)
    }
}

/// Decodes from another kind of container than it encodes to.
private struct Keyed: Codable, Equatable {
    enum Key: CodingKey { case a }
    var a: Int

    init(a: Int) { self.a = a }
    init(from decoder: any Decoder) throws {
        a = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .a)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(["a": a])
    }
}

/// Encodes null itself.
private struct Maybe: Codable, Equatable {
    var numbers: [Int]?

    init(_ numbers: [Int]?) { self.numbers = numbers }
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        numbers = container.decodeNil() ? nil : try container.decode([Int].self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let numbers { try container.encode(numbers) } else { try container.encodeNil() }
    }
}

/// Decodes one of its numbers by key, before or after it decodes all of them.
private struct Peeking: Codable, Equatable {
    enum Key: CodingKey { case a }
    @TaskLocal static var looksFirst = false
    /// How often its content was decoded.
    @TaskLocal static var contents = Kept(0)

    var a: Int?
    var numbers: [String: Int]

    init(numbers: [String: Int]) { (a, self.numbers) = (numbers["a"], numbers) }
    init(from decoder: any Decoder) throws {
        func look() -> Int? { try? decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .a) }
        if Peeking.looksFirst { a = look() }
        numbers = try decoder.singleValueContainer().decode([String: Int].self)
        Peeking.contents.value += 1
        if !Peeking.looksFirst { a = look() }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(numbers)
    }
}

/// Refuses numbers that do not ascend.
private struct Ascending: Codable, Equatable {
    struct Unordered: Error {}
    var numbers: [Int]

    init(_ numbers: [Int]) { self.numbers = numbers }
    init(from decoder: any Decoder) throws {
        numbers = try decoder.singleValueContainer().decode([Int].self)
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else { throw Unordered() }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(numbers)
    }
}

private struct Misfit: Encodable {
    enum Way: CaseIterable { case twice, listedBefore, listedAfter, keyedBefore, keyedAfter }
    enum Key: CodingKey { case a }

    let way: Way
    let number: Int

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch way {
        case .twice:
            try container.encode([number])
            try container.encode([number])
        case .listedBefore:
            _ = encoder.unkeyedContainer()
            try container.encode([number])
        case .listedAfter:
            try container.encode([number])
            _ = encoder.unkeyedContainer()
        case .keyedBefore:
            var keyed = encoder.container(keyedBy: Key.self)
            try keyed.encode(number, forKey: .a)
            try container.encode([number])
        case .keyedAfter:
            try container.encode([number])
            var keyed = encoder.container(keyedBy: Key.self)
            try keyed.encode(number, forKey: .a)
        }
    }
}

/// Requests a container that it does not use.
private struct Idle: Encodable {
    enum Key: CodingKey { case a }
    let a: Int

    func encode(to encoder: any Encoder) throws {
        _ = encoder.singleValueContainer()
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(a, forKey: .a)
    }
}
