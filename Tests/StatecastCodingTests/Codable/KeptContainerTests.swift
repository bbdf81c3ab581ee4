import StatecastCoding
import Testing

/// The coder reuses its objects. A type that retains one must not be affected.
@Suite(.serialized) struct `A part of a decoder that a type retains` {
    @Test(arguments: 0..<3)
    func `A part of a decoder that a type retains decodes correctly after other values were decoded`(form: Int) throws {
        let decoder = StateDecoder()
        let bytes = try StateEncoder().encode((0..<20).map { Plain(name: "entry \($0)", number: $0, inner: ["x": $0]) })
        Keeper.kept.value = []
        try Keeper.$form.withValue(form) { () throws in
            // This array is released before the retained parts are read.
            #expect(try decoder.decode([Keeper].self, from: Array(bytes)).count == 20)
        }
        #expect(try decoder.decode([Plain].self, from: bytes).count == 20)
        #expect(try Keeper.kept.value.map { try $0() } == (0..<20).map { "entry \($0) \($0)" })
    }

    @Test(arguments: 0..<3)
    func `A part of a decoder that a type retains decodes correctly after other items of a buffer`(form: Int) throws {
        let items = try (0..<20).map {
            try StateEncoder().encode(Plain(name: "entry \($0)", number: $0, inner: ["x": $0]))
        }
        Keeper.kept.value = []
        try Keeper.$form.withValue(form) { () throws in
            // This array is released before the retained parts are read.
            try ItemBuffer.withItems(Array(items.joined())[...]) { buffer in
                var start = 0
                for (index, item) in items.enumerated() {
                    let range = start..<(start + item.count)
                    start = range.upperBound
                    _ = try buffer.decode(Keeper.self, at: range)
                    let plain = try buffer.decode(Plain.self, at: range)
                    #expect(plain.number == index)
                }
            }
        }
        #expect(try Keeper.kept.value.map { try $0() } == (0..<20).map { "entry \($0) \($0)" })
    }

    @Test func `A part of a decoder that a type retains is released with the value`() throws {
        weak var token: Token?
        do {
            let new = Token()
            token = new
            let value = Tagged(token: new, number: 5)
            let bytes = try StateEncoder().encode([value, value])
            let back = try Tagged.$decoding.withValue(new) { try StateDecoder().decode([Tagged].self, from: bytes) }
            #expect(back.map(\.number) == [5, 5])
            #expect(throws: CodingFailure.self) {
                try Tagged.$decoding.withValue(new) {
                    try StateDecoder().decode(Tagged.self, from: ["nested": ["a": 1]])
                }
            }
            #expect(throws: CodingFailure.self) { try StateEncoder().encode(Tagged(token: new, number: -1)) }
        }
        #expect(token == nil)
    }
}

@Suite struct `A container of an encoder that a type retains` {
    @Test
    func `A retained container of an encoder is refused after the value is complete, and affects no other`() throws {
        let late = Late()
        let values = [
            Intruder(late: late, number: 1), Intruder(late: late, number: 2), Intruder(late: late, number: 3),
        ]
        #expect(try StateEncoder().value(of: values) == [["own": 1], ["own": 2], ["own": 3]])
        #expect(late.refusals == 2)
        #expect(throws: (any Error).self) { try late.container?.encode(9, forKey: .late) }
        #expect(
            try StateEncoder().value(of: Plain(name: "a", number: 1, inner: [:])) == [
                "name": "a", "number": 1, "inner": [:],
            ]
        )
    }
}

@Suite struct `A container that one of its parts writes to` {
    @Test(arguments: [true, false])
    func `A container that a nested or an encoded part of it writes to is refused`(isNested: Bool) throws {
        #expect {
            try StateEncoder().encode(Outer(isNested: isNested))
        } throws: { error in
            (error as? CodingFailure)?.message.contains("another one was open") == true
        }
        // A later encoding works.
        #expect(try StateEncoder().value(of: ["a": ["b": 1]]) == ["a": ["b": 1]])
    }
}

@Suite struct `Concurrent coders` {
    @Test func `Concurrent coders encode and decode correctly although they share spare objects`() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        let value = Plain(name: "worker \(worker)", number: round, inner: ["\(worker)": round])
                        let bytes = try StateEncoder().encode(value)
                        guard try StateDecoder().decode(Plain.self, from: bytes) == value else { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}

private struct Plain: Codable, Equatable {
    var name: String
    var number: Int
    var inner: [String: Int]
}

/// Decodes its fields on request, long after `init(from:)`.
private struct Keeper: Decodable {
    @TaskLocal static var form = 0
    static let kept = Kept<[() throws -> String]>([])

    enum Keys: CodingKey { case name, number }

    init(from decoder: any Decoder) throws {
        let read: () throws -> String
        switch Keeper.form {
        case 0:
            let container = try decoder.container(keyedBy: Keys.self)
            read = {
                "\(try container.decode(String.self, forKey: .name)) \(try container.decode(Int.self, forKey: .number))"
            }
        case 1:
            read = {
                let container = try decoder.container(keyedBy: Keys.self)
                let name = try container.decode(String.self, forKey: .name)
                return "\(name) \(try container.decode(Int.self, forKey: .number))"
            }
        default:
            let name = try decoder.container(keyedBy: Keys.self).superDecoder(forKey: .name)
            let number = try decoder.container(keyedBy: Keys.self).superDecoder(forKey: .number).singleValueContainer()
            read = { "\(try String(from: name)) \(try number.decode(Int.self))" }
        }
        Keeper.kept.value.append(read)
    }
}

private final class Token: Sendable {}

private struct TokenKey: CodingKey {
    let token: Token?
    let stringValue: String
    var intValue: Int? { nil }

    init(_ token: Token?, _ name: String) { (self.token, stringValue) = (token, name) }
    init?(stringValue: String) { self.init(nil, stringValue) }
    init?(intValue: Int) { nil }
}

/// Its keys retain an object, which exists as long as the coder retains a key.
private struct Tagged: Codable {
    @TaskLocal static var decoding: Token?

    let token: Token?
    var number: Int

    init(token: Token, number: Int) { (self.token, self.number) = (token, number) }

    private struct Refusal: Error {}

    init(from decoder: any Decoder) throws {
        token = Tagged.decoding
        let container = try decoder.container(keyedBy: TokenKey.self)
        let first = try container.nestedContainer(keyedBy: TokenKey.self, forKey: TokenKey(token, "nested"))
        let second = try first.nestedContainer(keyedBy: TokenKey.self, forKey: TokenKey(token, "a"))
        let third = try container.nestedContainer(keyedBy: TokenKey.self, forKey: TokenKey(token, "other"))
        number = try second.decode(Int.self, forKey: TokenKey(token, "b"))
        _ = try third.decode(Int.self, forKey: TokenKey(token, "c"))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TokenKey.self)
        var first = container.nestedContainer(keyedBy: TokenKey.self, forKey: TokenKey(token, "nested"))
        var second = first.nestedContainer(keyedBy: TokenKey.self, forKey: TokenKey(token, "a"))
        var third = container.nestedContainer(keyedBy: TokenKey.self, forKey: TokenKey(token, "other"))
        try third.encode(number, forKey: TokenKey(token, "c"))
        if number < 0 { throw Refusal() }
        try second.encode(number, forKey: TokenKey(token, "b"))
    }
}

private final class Late {
    var container: KeyedEncodingContainer<Intruder.Keys>?
    var refusals = 0
}

/// Writes into the container of the previous value.
private struct Intruder: Encodable {
    enum Keys: CodingKey { case own, late }

    let late: Late
    let number: Int

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(number, forKey: .own)
        if late.container != nil {
            do { try late.container?.encode(number, forKey: .late) } catch { late.refusals += 1 }
        }
        late.container = container
    }
}

/// Passes its container to the parts of a part, which write into it while the part is incomplete.
private struct Outer: Encodable {
    enum Keys: CodingKey { case part, late }

    let isNested: Bool

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        let parts = Dictionary(uniqueKeysWithValues: (0..<40).map { ("\($0)", Inner(outer: container)) })
        if isNested {
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .part)
            try nested.encode(parts, forKey: .part)
        } else {
            try container.encode(parts, forKey: .part)
        }
    }

    struct Inner: Encodable {
        let outer: KeyedEncodingContainer<Keys>

        func encode(to encoder: any Encoder) throws {
            var (own, outer) = (encoder.container(keyedBy: Keys.self), outer)
            try own.encode(1, forKey: .part)
            try outer.encode(2, forKey: .late)
        }
    }
}
