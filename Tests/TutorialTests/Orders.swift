import Statecast
import StatecastCoding

/// The first release.
enum FirstRelease {
    struct Orders: Codable, Equatable, Sendable {
        var shop = "Corner shop"
        var open: Table<Int, Order> = [:]
    }

    struct Order: Codable, Equatable, Sendable {
        var item: String
        var price: Double
    }
}

/// The second release: two more fields, a renamed one, and prices in cents.
enum SecondRelease {
    struct Orders: Codable, Equatable, Sendable {
        var name = "Corner shop"
        var currency = "EUR"
        var open: Table<Int, Order> = [:]
    }

    struct Order: Codable, Equatable, Sendable {
        var item: String
        var cents: Int
        var isPaid: Bool
    }

    static let evolution = StateEvolution(
        rows: [Order(item: "", cents: 0, isPaid: false)],
        migrations: [
            { orders in
                orders["name"] = orders["shop"]
                orders["shop"] = nil
                orders["open"]?.changeEach { order in
                    guard let price = order["price"]?.doubleValue else { return }
                    order["cents"] = Value(Int((price * 100).rounded()))
                    order["price"] = nil
                }
            }
        ]
    )
}

struct OrderPlaced: Action, Equatable {
    let number: Int
    let item: String
}
