import StatecastCoding
import Testing

@Suite struct `A class instance in a state` {
    @Test func `A class instance in a state is refused anywhere, with its path`() {
        let gnome = Gnome()
        #expect(path(gnome) == [])
        #expect(path(Shed(content: gnome)) == ["content"])
        #expect(path([Shed(content: 1)]) == nil)
        #expect(path(Shed(content: [1: [gnome]])) == ["content"])
        #expect(path(Shed(content: ["a": Shed(content: gnome)])) == ["content", "a", "content"])
        #expect(path(Shed(content: Table([("a", Shed(content: gnome))]) { $1 })) == ["content", "a", "content"])
        #expect(path(Shed(content: [Shed(content: 1), nil, Shed(content: 2)])) == nil)
        #expect(
            path(Shed(content: [Shed<Gnome>?](arrayLiteral: nil, Shed(content: gnome)))) == ["content", "1", "content"]
        )
        #expect(path(Shed(content: Crop.ripe(gnome))) == ["content", "ripe", "_0"])
        #expect(path(Shed(content: Crop.none)) == nil)
    }

    @Test func `A class in a state is refused by its type without an instance`() {
        #expect(path(Shed(content: Gnome?.none)) == ["content"])
        #expect(path(Hollow()) == ["gnome"])
        #expect(path(Shed(content: [Gnome]())) == ["content"])
        #expect(path(Shed(content: [[[Gnome?]]]())) == ["content"])
        #expect(path(Shed(content: [String: Gnome]())) == ["content"])
        #expect(path(Shed(content: Table<Int, [Gnome]>())) == ["content"])
        #expect(path(Shed(content: Set<KeyGnome>())) == ["content"])
        #expect(path(Shed(content: [KeyGnome: Int]())) == ["content"])
    }

    @Test func `A class instance in a state is refused as a key, as a part of one, and in a set`() {
        #expect(path(Shed(content: [KeyGnome(): 1])) == ["content"])
        #expect(path(Shed(content: [Shed(content: KeyGnome()): 1])) == ["content", "content"])
        #expect(path(Shed(content: Set([Shed(content: KeyGnome())]))) == ["content", "0", "content"])
    }

    @Test func `A class instance in a state is refused in any container`() {
        #expect(path(HandWritten(gnome: Gnome(), way: .unkeyed)) == ["list", "1"])
        #expect(path(HandWritten(gnome: Gnome(), way: .nested)) == ["nested", "list"])
        #expect(path(HandWritten(gnome: Gnome(), way: .single)) == [])
        #expect(path(HandWritten(gnome: nil, way: .unkeyed)) == nil)
    }

    @Test func `An actor in a state is refused like a class instance`() {
        #expect(path(Shed(content: Guard())) == ["content"])
    }

    @Test func `A class instance in a state is refused as an existential and as a subclass`() {
        #expect(path(Erased(content: Gnome())) == ["content"])
        #expect(path(Erased(content: 1)) == nil)
        #expect(path(Shed<Gnome>(content: Dwarf())) == ["content"])
    }

    @Test func `A class instance in a state is accepted if it is not encoded`() {
        #expect(path(Keeper(count: 1)) == nil)
        #expect(path([Keeper(count: 1)]) == nil)
    }

    @Test func `A class in a state is refused by its type in rows that do not exist yet`() {
        #expect(path(Garden(parts: Table<Int, Bed>())) == ["parts", "gnome"])
        #expect(path(Garden(parts: [String: [Bed]]())) == ["parts", "gnome"])
        #expect(path(Garden(parts: Set<KeyBed>())) == ["parts", "gnome"])
        #expect(path(Garden(parts: [KeyBed: Int]())) == ["parts", "gnome"])
        #expect(path(Garden(parts: Bed?.none)) == ["parts", "gnome"])
        #expect(path(Garden(parts: [Newtype<Bed>]())) == ["parts", "gnome"])
        #expect(path(Garden(parts: [Nested<Bed>]())) == ["parts", "outer", "0", "inner", "gnome"])
        #expect(path(Garden(parts: [Endless]())) == nil)
        #expect(path(Garden(parts: [Int]())) == nil)
    }

    @Test func `A class instance in a state is refused once it exists if its type could not be found`() {
        let (hidden, seen) = (Hidden(gnome: nil), Hidden(gnome: Gnome()))
        #expect(path(Garden(parts: [Hidden]())) == nil)
        #expect(path(Garden(parts: [Plot]())) == nil)
        #expect(refusal(from: Plot.empty, to: .planted(bed: Bed(gnome: Gnome()))) == ["planted", "bed", "gnome"])
        #expect(path(Garden(parts: [Listed<Bed>]())) == nil)
        #expect(refusal(from: hidden, to: seen) == ["gnome"])
        #expect(refusal(from: Hidden?.none, to: seen) == ["gnome"])
        #expect(refusal(from: ["a": hidden], to: ["a": hidden, "b": seen]) == ["b", "gnome"])
        #expect(refusal(from: ["a": hidden], to: ["b": seen]) == ["b", "gnome"])
        let (row, rows) = (Table([(1, hidden)]) { $1 }, Table([(1, hidden), (2, seen)]) { $1 })
        #expect(refusal(from: Garden(parts: row), to: Garden(parts: rows)) == ["parts", "2", "gnome"])
        #expect(refusal(from: Garden(parts: [Hidden]()), to: Garden(parts: [seen])) == ["parts", "0", "gnome"])
        let (list, others) = (HandWritten(gnome: nil, way: .unkeyed), HandWritten(gnome: Gnome(), way: .unkeyed))
        #expect(refusal(from: list, to: others) == ["list", "1"])
        #expect(refusal(from: Erased(content: 1), to: Erased(content: Gnome())) == ["content"])
        #expect(refusal(from: hidden, to: Hidden(price: 2, gnome: nil)) == nil)
    }

    @Test func `A class instance in a state is refused if it is unchanged, and equal to itself`() {
        let gnome = KeyGnome()
        #expect(refusal(from: Pot(number: 1, gnome: gnome), to: Pot(number: 1, gnome: gnome)) == ["gnome"])
    }

    @Test func `A class instance in a state may be encoded and decoded`() throws {
        let bytes = try StateEncoder().encode(Bed(gnome: Gnome()))
        #expect(try StateDecoder().decode(Bed.self, from: bytes).gnome != nil)
        #expect(try StateEncoder().value(of: Bed(gnome: Gnome())) == ["gnome": [:]])
    }

    @Test func `A class instance in a state may hold an encoded value if it is not encoded itself`() throws {
        let (old, new) = (Garden(parts: [Boxed(number: 1)]), Garden(parts: [Boxed(number: 2)]))
        #expect(path(old) == nil)
        #expect(try Differ.patch(from: old, to: new).patch.description == #"{"parts":{"0":[2]}}"#)
    }

    private func path(_ value: some Encodable) -> [String]? {
        pathOfClass { () throws(CodingFailure) in try StateEncoder().checkValueSemantics(of: value) }
    }

    private func refusal<State: Encodable>(from old: State, to new: State) -> [String]? {
        pathOfClass { () throws(CodingFailure) in _ = try Differ.patch(from: old, to: new) }
    }

    private func pathOfClass(_ body: () throws(CodingFailure) -> Void) -> [String]? {
        do throws(CodingFailure) { try body() } catch {
            #expect(error.code == .unencodable)
            #expect(error.message.contains("is a class: its changes cannot be seen; make it a struct"))
            return error.path
        }
        return nil
    }
}

private class Gnome: Codable {}
private final class Dwarf: Gnome {}

private final class KeyGnome: Codable, Hashable {
    static func == (left: KeyGnome, right: KeyGnome) -> Bool { left === right }
    func hash(into hasher: inout Hasher) {}
}

private actor Guard: Encodable {
    nonisolated func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
    }
}

private struct Shed<Content> { var content: Content }
extension Shed: Encodable where Content: Encodable {}
extension Shed: Equatable where Content: Equatable {}
extension Shed: Hashable where Content: Hashable {}

private struct Hollow: Encodable { var gnome: Gnome? }

private enum Crop: Encodable { case none, ripe(Gnome) }

private struct Erased: Encodable {
    var content: any Encodable

    enum Key: CodingKey { case content }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(content, forKey: .content)
    }
}

private struct Keeper: Encodable {
    let gnome = Gnome()
    var count: Int

    enum CodingKeys: CodingKey { case count }
}

private struct HandWritten: Encodable {
    enum Way { case unkeyed, nested, single }
    enum Key: CodingKey { case list, nested }

    var gnome: Gnome?
    var way: Way

    func encode(to encoder: any Encoder) throws {
        switch way {
        case .single:
            var container = encoder.singleValueContainer()
            if let gnome { try container.encode(gnome) }
        case .unkeyed:
            var container = encoder.container(keyedBy: Key.self)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            if let gnome { try list.encode(gnome) }
        case .nested:
            var container = encoder.container(keyedBy: Key.self)
            var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
            if let gnome { try nested.encode(gnome, forKey: .list) }
        }
    }
}

private struct Garden<Parts: Codable>: Codable { var parts: Parts }
private struct Bed: Codable { var gnome: Gnome? }
private struct KeyBed: Codable, Hashable { var gnome: KeyGnome? }
private enum Plot: Codable { case empty, planted(bed: Bed) }
private struct Pot: Codable, Equatable {
    var number: Int
    var gnome: KeyGnome
}

/// Has its gnome after a field for which there is no default value.
private struct Hidden: Codable {
    struct Price: Codable {
        struct TooLow: Error {}
        var value: Int

        init(value: Int) { self.value = value }
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Int.self)
            guard value > 0 else { throw TooLow() }
        }
    }

    var price: Price
    var gnome: Gnome?

    init(price: Int = 1, gnome: Gnome?) { (self.price, self.gnome) = (Price(value: price), gnome) }
}

/// Stores its number in an object.
private struct Boxed: Codable {
    final class Box {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    let box: Box

    init(number: Int) { box = Box(number) }
    init(from decoder: any Decoder) throws { box = Box(try Int(from: decoder)) }
    func encode(to encoder: any Encoder) throws { try box.number.encode(to: encoder) }
}
