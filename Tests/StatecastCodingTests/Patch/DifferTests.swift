import StatecastCoding
import Testing

@Suite struct `The typed differ` {
    private func check<T: Codable & Equatable>(
        _ old: T,
        _ new: T,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Patch { try checkLaws(from: old, to: new, at: location) }

    @Test func `equal states make an empty patch`() throws {
        #expect(try check(World(), World()).isEmpty)
    }

    @Test func `a patch contains only the changes`() throws {
        var old = World()
        old.rows = ["a": Row(title: "one"), "b": Row(title: "two", inner: ["x": 1, "y": 2])]
        var new = old
        new.rows["b"]?.inner["y"] = 3
        #expect(try check(old, new).description == #"{"rows":{"b":{"inner":{"y":[3]}}}}"#)
    }

    @Test func `a field that became nil is removed, one that became something is inserted`() throws {
        var (old, new) = (World(), World())
        old.flag = true
        new.nested = Row(title: "n")
        let patch = try check(old, new).description
        #expect(patch == #"{"flag":null,"nested":[{"load":0.0,"inner":{},"notes":[],"title":"n"}]}"#)
    }

    @Test func `a nil within a present optional is no removal`() throws {
        var (old, new) = (World(), World())
        old.maybe = 5
        new.maybe = .some(nil)
        #expect(try check(old, new).description == #"{"maybe":[null]}"#)
        new.maybe = .none
        #expect(try check(old, new).description == #"{"maybe":null}"#)
    }

    @Test func `an enum with another case is replaced, one with the same case is changed by part`() throws {
        var old = World()
        old.mode = .live(since: 1, row: Row(title: "a"))
        var new = old
        new.mode = .live(since: 2, row: Row(title: "a"))
        #expect(try check(old, new).description == #"{"mode":{"live":{"since":[2]}}}"#)
        new.mode = .ended(3)
        #expect(try check(old, new).description == #"{"mode":[{"ended":{"_0":3}}]}"#)
    }

    @Test func `an array that grew or shrank is spliced, one that kept its length is changed by element`() throws {
        #expect(try check([1, 2, 3], [1, 9, 3]).description == #"{"1":[9]}"#)
        #expect(try check([1, 2, 3], [1, 2, 3, 4]).description == #"[3,0,[4]]"#)
        #expect(try check([1, 2, 3], [1, 3]).description == #"[1,1,[]]"#)
        #expect(try check([[1], [2]], [[1], [2, 3]]).description == #"{"1":[1,0,[3]]}"#)
    }

    @Test func `a bounded log that dropped its oldest entry is not replaced`() throws {
        #expect(try check(Array(0..<50), Array(1..<51)).description == #"[[0,1,[]],[49,0,[50]]]"#)
    }

    @Test func `equal values and values with the same encoding make an empty patch`() throws {
        #expect(try check([0.0], [-0.0]).isEmpty)
        #expect(try check("caf\u{E9}", "cafe\u{301}").isEmpty)
        #expect(try Differ.patch(from: Double.nan, to: Double.nan).isEmpty)
        #expect(try Differ.patch(from: [Double.nan, 1], to: [Double.nan, 1]).isEmpty)
        #expect(try Differ.patch(from: ["a": Double.nan], to: ["a": Double.nan]).isEmpty)
        #expect(try Differ.patch(from: [Double.nan, 1], to: [Double.nan, 2]).patch.description == #"{"1":[2.0]}"#)
    }

    @Test func `both spellings of a key are one key`() throws {
        let patch = try check(["cafe\u{301}": 1, "b": 1], ["caf\u{E9}": 2, "b": 1])
        #expect(patch == (try check(["caf\u{E9}": 1, "b": 1], ["caf\u{E9}": 2, "b": 1])))
    }

    @Test func `dictionaries with any keys, and sets, change by entry`() throws {
        #expect(try check([1: "a", 2: "b"], [1: "a", 2: "c", 3: "d"]).description == #"{"2":["c"],"3":["d"]}"#)
        #expect(try check(Set([1, 5, 9]), Set([1, 3, 9, 10])).description == "[[1,3,9,10]]")
        #expect(try check(Set(0..<99), Set(1..<98)).description == "[[0,1,[]],[97,1,[]]]")
        #expect(
            try check([Kind.red: [1], .blue: [2]], [.red: [1], .blue: [2, 3]]).description == #"{"blue":[1,0,[3]]}"#
        )
        let nothing: [String: Int?] = ["a": nil, "b": 1]
        let something: [String: Int?] = ["a": 2, "b": 1]
        #expect(try check(something, nothing).description == #"{"a":[null]}"#)
    }

    @Test func `types without equality are compared by encoding`() throws {
        let patch = try Differ.patch(
            from: [Unequal(a: 1, b: 2), Unequal(a: 3, b: 4)],
            to: [
                Unequal(a: 1, b: 2), Unequal(a: 3, b: 5),
            ]
        )
        #expect(patch.patch.description == #"{"1":{"b":[5]}}"#)
        #expect(try Differ.patch(from: Unequal(a: 1, b: 2), to: Unequal(a: 1, b: 2)).isEmpty)
    }

    @Test func `the content of an unkeyed or super container is replaced as a whole`() throws {
        #expect(try check(Pair(first: 1, second: "a"), Pair(first: 2, second: "a")).description == #"[[2,"a"]]"#)
        let patch = try check(Derived(base: 1, own: 2), Derived(base: 1, own: 3)).description
        #expect(patch == #"{"list":[[0,3]]}"#)
        #expect(try check(Derived(base: 1, own: 2), Derived(base: 1, own: 2)).isEmpty)
    }

    @Test func `a set that encodes itself to the encoder is replaced, as its order is undefined`() throws {
        let (old, new) = (Alias(content: Set(0..<20)), Alias(content: Set(1..<20)))
        let patch = try Differ.patch(from: old, to: new).patch
        // An equal set with another order, as in another process.
        var twin = Alias(content: Set((0..<20).reversed()))
        try patch.apply(to: &twin)
        #expect(twin == new)
    }

    @Test func `a field that changed its type under one key is replaced`() throws {
        let patch = try Differ.patch(from: Shifty(number: 1), to: Shifty(number: nil)).patch
        #expect(patch.description == #"{"it":["none"]}"#)
    }

    @Test func `a field written twice counts as the later one`() throws {
        #expect(try Differ.patch(from: Twice(a: 1, b: 2), to: Twice(a: 9, b: 2)).isEmpty)
        let patch = try Differ.patch(from: Twice(a: 1, b: 2), to: Twice(a: 1, b: 3)).patch
        #expect(patch.description == #"{"x":[3]}"#)
    }

    @Test func `a failure in a changed field names the field`() {
        let failure = #expect(throws: CodingFailure.self) {
            try Differ.patch(from: ["a": Refusing(ok: true)], to: ["a": Refusing(ok: false)])
        }
        #expect(failure?.path == ["a", "ok"])
    }
}

private struct Unequal: Codable {
    var a: Int
    var b: Int
}

/// Its list and its base are written through containers that cannot be collected.
private struct Derived: Codable, Equatable {
    var base: Int
    var own: Int

    enum Keys: String, CodingKey { case list, base }

    init(base: Int, own: Int) {
        self.base = base
        self.own = own
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        _ = try list.decode(Int.self)
        own = try list.decode(Int.self)
        base = try container.superDecoder().container(keyedBy: Keys.self).decode(Int.self, forKey: .base)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(0)
        try list.encode(own)
        var outer = container.superEncoder().container(keyedBy: Keys.self)
        try outer.encode(base, forKey: .base)
    }
}

private struct Shifty: Encodable {
    var number: Int?

    enum Keys: String, CodingKey { case it }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        if let number { try container.encode(number, forKey: .it) } else { try container.encode("none", forKey: .it) }
    }
}

private struct Twice: Encodable {
    var a: Int
    var b: Int

    enum Keys: String, CodingKey { case x }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(a, forKey: .x)
        try container.encode(b, forKey: .x)
    }
}

private struct Refusing: Codable, Equatable {
    var ok: Bool

    enum Keys: String, CodingKey { case ok }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        guard ok else {
            let context = EncodingError.Context(codingPath: encoder.codingPath + [Keys.ok], debugDescription: "no")
            throw EncodingError.invalidValue(ok, context)
        }
        try container.encode(ok, forKey: .ok)
    }
}
