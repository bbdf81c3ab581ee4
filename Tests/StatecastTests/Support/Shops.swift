import Statecast
import StatecastCoding
import StatecastJournal
import StatecastProtocol

/// The first version of a shop.
struct FirstShop: Codable, Equatable, Sendable {
    var name = "Corner shop"
    var items: Table<Int, Item> = [:]

    struct Item: Codable, Equatable, Sendable {
        var title: String
    }
}

/// A shop with more fields.
struct SecondShop: Codable, Equatable, Sendable {
    var name = "Corner shop"
    var items: Table<Int, Item> = [:]
    var isOpen = true

    struct Item: Codable, Equatable, Sendable {
        var title: String
        var price = 100
    }

    static let evolution = StateEvolution(rows: [Item(title: "", price: 5)])
}

/// The second shop with its fields in another order, and a type by another name.
struct ReorderedShop: Codable, Equatable, Sendable {
    var isOpen = true
    var items: Table<Int, Ware> = [:]
    var name = "Corner shop"

    struct Ware: Codable, Equatable, Sendable {
        var price = 7
        var title: String
    }
}

/// A shop with a renamed field, and prices in cents.
struct ThirdShop: Codable, Equatable, Sendable {
    var title = "Corner shop"
    var items: Table<Int, SecondShop.Item> = [:]
    var isOpen = true

    static let evolution = StateEvolution(
        rows: [SecondShop.Item(title: "", price: 5)],
        migrations: [
            { shop in
                shop["title"] = shop["name"]
                shop["name"] = nil
            },
            { shop in
                shop["items"]?.changeEach { item in
                    if let price = item["price"]?.intValue { item["price"] = Value(price * 100) }
                }
            },
        ]
    )
}

/// A shop that does not encode its items.
struct SecretiveShop: Codable, Equatable, Sendable {
    var name = "Corner shop"
    var items: Table<Int, Item> = [:]
    var isOpen = true

    struct Item: Codable, Equatable, Sendable {
        var title: String
        var price = 100

        func encode(to encoder: any Encoder) throws { throw CodingFailure(.malformed, "a secret") }
    }
}

/// Adds an item.
struct Listed: Action, Equatable {
    let number: Int
    let title: String
}

/// A shop of any version.
protocol Shop: Codable, Equatable, Sendable {
    init()
    mutating func list(_ number: Int, _ title: String)
}

extension FirstShop: Shop {
    mutating func list(_ number: Int, _ title: String) { items[number] = Item(title: title) }
}

extension SecondShop: Shop {
    mutating func list(_ number: Int, _ title: String) { items[number] = Item(title: title) }
}

extension ReorderedShop: Shop {
    mutating func list(_ number: Int, _ title: String) { items[number] = Ware(title: title) }
}

extension ThirdShop: Shop {
    mutating func list(_ number: Int, _ title: String) { items[number] = SecondShop.Item(title: title) }
}

extension SecretiveShop: Shop {
    mutating func list(_ number: Int, _ title: String) { items[number] = Item(title: title) }
}

extension Shop {
    static func primary(
        _ journal: any Journal,
        evolution: StateEvolution = StateEvolution(),
        _ configuration: PrimaryConfiguration = .anyPorts
    ) throws -> Primary<Self> {
        var configuration = configuration
        let maxFrameBytes = configuration.limits.maxFrameBytes
        configuration.limits = .quick
        configuration.limits.maxFrameBytes = maxFrameBytes
        return try Primary(
            store: "shop",
            state: Self(),
            actions: [Listed.self],
            journal: journal,
            evolution: evolution,
            configuration: configuration
        ) { shop, action in
            if let action = action as? Listed { shop.list(action.number, action.title) }
        }
    }

    static func replica(from address: PrimaryAddress) throws -> Replica<Self> {
        try Replica<Self>(store: "shop", from: address.publish, configuration: .quick).started()
    }
}
