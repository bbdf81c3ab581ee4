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

    /// Changes one field of the row at this position.
    package mutating func changeRow(_ number: Int) {
        rows.changeLoad(of: number)
    }
}
