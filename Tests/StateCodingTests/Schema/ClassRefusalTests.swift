import StateCoding
import Testing

@Suite struct `A class instance in a state` {
    @Test func `is refused wherever it stands, with its path`() {
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

    @Test func `is refused by its type where there is none`() {
        #expect(path(Shed(content: Gnome?.none)) == ["content"])
        #expect(path(Hollow()) == ["gnome"])
        #expect(path(Shed(content: [Gnome]())) == ["content"])
        #expect(path(Shed(content: [[[Gnome?]]]())) == ["content"])
        #expect(path(Shed(content: [String: Gnome]())) == ["content"])
        #expect(path(Shed(content: Table<Int, [Gnome]>())) == ["content"])
        #expect(path(Shed(content: Set<KeyGnome>())) == ["content"])
        #expect(path(Shed(content: [KeyGnome: Int]())) == ["content"])
    }

    @Test func `is refused as a key, as a part of one, and in a set`() {
        #expect(path(Shed(content: [KeyGnome(): 1])) == ["content"])
        #expect(path(Shed(content: [Shed(content: KeyGnome()): 1])) == ["content", "content"])
        #expect(path(Shed(content: Set([Shed(content: KeyGnome())]))) == ["content", "0", "content"])
    }

    @Test func `is refused in any container`() {
        #expect(path(HandWritten(gnome: Gnome(), way: .unkeyed)) == ["list", "1"])
        #expect(path(HandWritten(gnome: Gnome(), way: .nested)) == ["nested", "list"])
        #expect(path(HandWritten(gnome: Gnome(), way: .single)) == [])
        #expect(path(HandWritten(gnome: nil, way: .unkeyed)) == nil)
    }

    @Test func `is refused as an actor too`() {
        #expect(path(Shed(content: Guard())) == ["content"])
    }

    @Test func `is refused behind a protocol and as a subclass`() {
        #expect(path(Erased(content: Gnome())) == ["content"])
        #expect(path(Erased(content: 1)) == nil)
        #expect(path(Shed<Gnome>(content: Dwarf())) == ["content"])
    }

    @Test func `may be held where it is not encoded`() {
        #expect(path(Keeper(count: 1)) == nil)
        #expect(path([Keeper(count: 1)]) == nil)
    }

    private func path(_ value: some Encodable) -> [String]? {
        do throws(CodingFailure) { try StateEncoder().checkValueSemantics(of: value) } catch {
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
