import StatecastCoding
import Testing

/// A build decodes a state that another build encoded.
@Suite struct `A state of another build` {
    struct Shop: Codable, Equatable {
        var name = "new"
        var address = Address()
        var items: Table<Int, Item> = [:]
        var shelves: [String: [Item]] = [:]
        var favourite: Item?
        var opening = Opening.closed
        var limits: [String: Int] = ["items": 10, "shelves": 3]
    }

    struct Address: Codable, Equatable {
        var street = "?"
        var city = "Berlin"
    }

    struct Item: Codable, Equatable, Hashable {
        var title: String
        var size = Size(width: 1, height: 2)
        var discount: Int?
    }

    struct Size: Codable, Equatable, Hashable {
        var width: Int
        var height: Int
    }

    enum Opening: Codable, Equatable {
        case closed
        case open(from: Int, until: Int)
    }

    private static func read<T: Codable>(
        _ tree: Value,
        initial: T,
        rows: [any Encodable] = []
    ) throws(CodingFailure) -> T {
        try StateDecoder().decode(T.self, from: tree, filling: FieldDefaults(initial: initial, rows: rows))
    }

    private static func shop(_ change: (inout Value) -> Void) throws -> Value {
        var tree = try StateEncoder().value(of: Shop())
        change(&tree)
        return tree
    }

    private static let item: Value = ["title": "Lamp", "size": ["width": 7, "height": 8]]
    private static let half: Value = ["title": "Lamp", "size": ["width": 7]]

    @Test func `A state of another build has its missing fields filled from the initial state`() throws {
        let tree = try Self.shop { tree in
            tree["name"] = nil
            tree["limits"] = nil
            tree["address"] = ["street": "Main Street"]
            tree["favourite"] = Self.half
        }
        let size = Size(width: 3, height: 4)
        let initial = Shop(name: "mine", address: Address(city: "Rome"), favourite: Item(title: "", size: size))
        let shop = try Self.read(tree, initial: initial)
        #expect(shop.name == "mine")
        #expect(shop.address == Address(street: "Main Street", city: "Rome"))
        #expect(shop.favourite == Item(title: "Lamp", size: Size(width: 7, height: 4)))
        #expect(shop.limits == initial.limits)
    }

    @Test
    func `A state of another build has the missing fields of its rows filled from a row, in any collection`() throws {
        let tree = try Self.shop { tree in
            tree["items"] = .map([4711: ["title": "Lamp"], 4712: Self.item])
            tree["shelves"] = ["top": [Self.half, Self.half]]
            tree["favourite"] = ["title": "Chair"]
        }
        let row = Item(title: "", size: Size(width: 5, height: 6), discount: 1)
        let shop = try Self.read(tree, initial: Shop(), rows: [row])
        #expect(shop.items[4711] == Item(title: "Lamp", size: row.size))
        #expect(shop.items[4712] == Item(title: "Lamp", size: Size(width: 7, height: 8)))
        #expect(shop.shelves["top"] == Array(repeating: Item(title: "Lamp", size: Size(width: 7, height: 6)), count: 2))
        #expect(shop.favourite == Item(title: "Chair", size: row.size))
    }

    @Test func `A state of another build has the missing payload of a case filled from a row for that case`() throws {
        let tree = try Self.shop { $0["opening"] = ["open": ["from": 8]] }
        let rows: [any Encodable] = [Opening.closed, Opening.open(from: 0, until: 18)]
        #expect(try Self.read(tree, initial: Shop(), rows: rows).opening == .open(from: 8, until: 18))
    }

    @Test func `A state of another build does not get back the rows that were removed`() throws {
        let tree = try Self.shop { tree in
            tree["name"] = nil
            tree["limits"] = ["items": 1]
        }
        let shop = try Self.read(tree, initial: Shop(items: [1: Item(title: "")], shelves: ["top": []]))
        #expect(shop.limits == ["items": 1])
        #expect(shop.items.isEmpty && shop.shelves.isEmpty)
    }

    @Test func `A state of another build names the row that lacks a field, where no row is given`() throws {
        let tree = try Self.shop { $0["items"] = .map([4711: Self.half]) }
        let failure = #expect(throws: CodingFailure.self) {
            try Self.read(tree, initial: Shop(favourite: Item(title: "")), rows: [Address()])
        }
        #expect(failure?.code == .missingKey)
        #expect(failure?.description == #"items.4711.size: missing the key "height""#)
    }

    @Test(arguments: ["items", "favourite", "opening", "address"])
    func `A state of another build is refused if a field would be lost, and names it`(place: String) throws {
        let item: Value = ["title": "Lamp", "size": ["width": 7, "height": 8, "depth": 9]]
        let tree = try Self.shop { tree in
            switch place {
            case "items": tree["items"] = .map([4711: item])
            case "favourite": tree["favourite"] = item
            case "opening": tree["opening"] = ["open": ["from": 1, "until": 2, "depth": 3]]
            default: tree["address"]?["depth"] = 1
            }
        }
        let failure = #expect(throws: CodingFailure.self) { try Self.read(tree, initial: Shop()) }
        #expect(failure?.code == .unknownKey)
        #expect(failure?.path.first == place)
        #expect(failure?.message.contains(#""depth""#) == true)
    }

    @Test func `A state of another build is accepted if an unknown field is null`() throws {
        let tree = try Self.shop { $0["gone"] = .null }
        #expect(try Self.read(tree, initial: Shop()) == Shop())
    }

    // MARK: Types with custom decoding

    /// Accepts two names of a field, and has a default for another one.
    struct ByHand: Codable, Equatable {
        var title: String
        var count: Int

        enum Keys: CodingKey { case title, count }
        enum OldKeys: CodingKey { case name }

        init(title: String, count: Int) { (self.title, self.count) = (title, count) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            let old = try decoder.container(keyedBy: OldKeys.self)
            title = try container.decodeIfPresent(String.self, forKey: .title) ?? old.decode(String.self, forKey: .name)
            count = (try? container.decode(Int.self, forKey: .count)) ?? 7
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(title, forKey: .title)
            try container.encode(count, forKey: .count)
        }
    }

    @Test
    func `A state of another build is decoded by its type's rules: a field with a default is not filled`() throws {
        let read = try Self.read(["name": "Lamp"], initial: ByHand(title: "initial", count: 1))
        #expect(read == ByHand(title: "Lamp", count: 7))
        // Each of its two containers declares one of the keys.
        #expect(try Self.read(["name": "Lamp", "count": 3], initial: read) == ByHand(title: "Lamp", count: 3))
    }

    /// One of two types, distinguished by the present keys.
    enum Either: Codable, Equatable {
        case item(Item)
        case size(Size)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let item = try? container.decode(Item.self) {
                self = .item(item)
            } else {
                self = .size(try container.decode(Size.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .item(let item): try item.encode(to: encoder)
            case .size(let size): try size.encode(to: encoder)
            }
        }
    }

    struct Pair: Codable, Equatable {
        var either: Either
        var added = 1
    }

    @Test func `A state of another build is not decoded as another type that would fit with more fields`() throws {
        let initial = Pair(either: .item(Item(title: "initial")))
        let read = try Self.read(
            ["either": ["width": 1, "height": 2]],
            initial: initial,
            rows: [Item(title: "")]
        )
        #expect(read == Pair(either: .size(Size(width: 1, height: 2))))
    }

    /// One of two types, distinguished after a part that only the second one can decode.
    enum Parcel: Codable, Equatable {
        case weighed(size: Size, weight: Int)
        case measured(Measured)

        struct Weighed: Codable, Equatable {
            var size: Size
            var weight: Int
        }

        struct Measured: Codable, Equatable {
            var size: [String: Int]
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let weighed = try? container.decode(Weighed.self) {
                self = .weighed(size: weighed.size, weight: weighed.weight)
            } else {
                self = .measured(try container.decode(Measured.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .weighed(let size, let weight): try Weighed(size: size, weight: weight).encode(to: encoder)
            case .measured(let measured): try measured.encode(to: encoder)
            }
        }
    }

    @Test func `A state of another build loses no key that a type ignored before its decoding failed`() throws {
        let size: Value = ["width": 1, "height": 2, "depth": 3]
        let read = try Self.read(["size": size], initial: Parcel.measured(.init(size: [:])))
        #expect(read == .measured(.init(size: ["width": 1, "height": 2, "depth": 3])))
    }

    @Test func `A state of another build keeps the keys of its collections unchanged`() throws {
        struct Keyed: Codable, Equatable {
            var height = 5
            var sizes: [Size] = []
            var names: [Size: String] = [:]
        }
        let tree: Value = ["height": 1, "sizes": [["width": 1]], "names": .map([["width": 1]: "a"])]
        let failure = #expect(throws: CodingFailure.self) {
            try Self.read(tree, initial: Keyed(), rows: [Size(width: 0, height: 0)])
        }
        #expect(failure?.description == #"names: missing the key "height""#)
    }

    /// Counts how often a value of this type is decoded.
    struct Counted: Codable, Equatable {
        nonisolated(unsafe) static var count = 0
        var a: Int
        var b: Int
        var c: Int

        init(_ number: Int) { (a, b, c) = (number, number, number) }

        init(from decoder: any Decoder) throws {
            Self.count += 1
            let container = try decoder.container(keyedBy: CodingKeys.self)
            a = try container.decode(Int.self, forKey: .a)
            b = try container.decode(Int.self, forKey: .b)
            c = try container.decode(Int.self, forKey: .c)
        }
    }

    @Test func `A state of another build needs one more decoding for each missing field, not for each row`() throws {
        let rows = (0..<1000).map { number -> (Value, Value) in (Value(number), ["a": Value(number)]) }
        let read = try Self.read(.map(ValueMap(rows)), initial: Table<Int, Counted>(), rows: [Counted(-1)])
        #expect(read.count == 1000)
        #expect(read[999].map { [$0.a, $0.b, $0.c] } == [999, -1, -1])
        #expect(Counted.count < 1010)
    }
}
