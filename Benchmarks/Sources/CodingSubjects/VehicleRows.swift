package import StateCoding

/// What the rows are kept in.
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
    /// What it is called as a row: 8 characters for the first 10 million.
    static func key(of number: Int) -> String {
        let digits = String(number)
        return "v" + String(repeating: "0", count: max(0, 7 - digits.utf8.count)) + digits
    }
}
