import Statecast

struct Shop: Codable, Equatable, Sendable {
    var name = "Corner shop"
    var items: Table<Int, Item> = [:]
    var open = Opening.closed
}

struct Item: Codable, Equatable, Sendable {
    var title: String
    var price: Double
    var tags: Set<String> = []
    var discount: Double?
}

enum Opening: Codable, Equatable, Sendable {
    case closed
    case open(until: String)
}

extension Shop {
    /// A state with something in every field.
    static let example = Shop(
        items: [
            4711: Item(title: "Lamp", price: 19.5, tags: ["light", "new"], discount: 0.25),
            4712: Item(title: "Chair", price: 49),
        ],
        open: .open(until: "18:00")
    )
}
