/// A nested record; some 180 bytes each as JSON.
package struct Vehicle: Codable, Equatable, Sendable {
    struct Place: Codable, Equatable, Sendable {
        var latitude: Double
        var longitude: Double
    }

    private(set) var id: Int
    private(set) var name: String
    private(set) var zone: String
    private(set) var isOnline: Bool
    private(set) var load: Int
    private(set) var speed: Double
    private(set) var place: Place
    private(set) var driver: String?
    private(set) var stops: [Int]

    /// - Parameter number: what tells it from all others.
    package init(number: Int) {
        id = 1_000_000 + number
        name = "Truck \(id)"
        zone = ["north", "east", "south", "west"][number % 4]
        isOnline = number % 3 > 0
        load = 1_000 + number % 50_000
        speed = Double(40 + number % 50) + 0.5
        place = Place(latitude: Double(5_250_000 + number) / 100_000, longitude: Double(13_400 + number % 977) / 1_000)
        driver = number % 8 == 7 ? nil : "Ada W."
        stops = [17 + number % 50, 204 + number % 700, 1_033 + number % 6_000]
    }

    /// Another load, of as many bytes when encoded.
    package mutating func changeLoad() {
        load = 1_000 + (load - 1_000 + 7_919) % 50_000
    }
}
