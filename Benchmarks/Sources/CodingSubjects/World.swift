package import StatecastCoding

/// A state of 12 fields, one of which has many rows.
package struct World<Rows: VehicleRows>: Codable, Equatable, Sendable {
    struct Depot: Codable, Equatable, Sendable {
        var name = "Depot North"
        var gates = 12
    }

    private(set) var name = "fleet"
    private(set) var revision = 0
    private(set) var isOpen = true
    private(set) var threshold = 0.75
    private(set) var depot = Depot()
    private(set) var backup: Depot? = Depot(name: "Depot South", gates: 4)
    private(set) var zones = ["north", "east", "south", "west"]
    private(set) var limits = ["load": 60_000, "speed": 90]
    private(set) var operators: Set<String> = ["Ada", "Grace", "Edsger"]
    private(set) var notice: String?
    private(set) var alarms: [Int] = []
    package private(set) var rows: Rows

    package init(rows: Rows) {
        self.rows = rows
    }

    /// Changes one field of a row.
    package mutating func changeRow(_ number: Int) {
        rows.changeLoad(of: number)
    }
}

/// A nested record of about 180 bytes in JSON.
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

    /// Changes the load; the size of the encoding stays the same.
    package mutating func changeLoad() {
        load = 1_000 + (load - 1_000 + 7_919) % 50_000
    }
}

/// A collection of rows.
package protocol VehicleRows: Codable, Equatable, Sendable {
    /// The vehicles with the numbers `0..<count`.
    init(count: Int)

    var count: Int { get }

    mutating func changeLoad(of number: Int)
}

extension [Vehicle]: VehicleRows {
    package init(count: Int) {
        self = (0..<count).map(Vehicle.init(number:))
    }

    package mutating func changeLoad(of number: Int) {
        self[number].changeLoad()
    }
}

extension [String: Vehicle]: VehicleRows {
    package init(count: Int) {
        self.init(uniqueKeysWithValues: (0..<count).map { (Vehicle.key(of: $0), Vehicle(number: $0)) })
    }

    package mutating func changeLoad(of number: Int) {
        self[Vehicle.key(of: number)]?.changeLoad()
    }
}

extension Table<String, Vehicle>: VehicleRows {
    package init(count: Int) {
        self.init(uniqueKeysWithValues: (0..<count).map { (Vehicle.key(of: $0), Vehicle(number: $0)) })
    }

    package mutating func changeLoad(of number: Int) {
        self[Vehicle.key(of: number)]?.changeLoad()
    }
}

extension Vehicle {
    /// The key of a row: 8 characters for the first 10 million.
    fileprivate static func key(of number: Int) -> String {
        let digits = String(number)
        return "v" + String(repeating: "0", count: max(0, 7 - digits.utf8.count)) + digits
    }
}

/// The number of rows of a snapshot.
package let snapshotRows = 100_000
