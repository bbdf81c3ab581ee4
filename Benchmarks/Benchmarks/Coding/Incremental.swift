import CodingSubjects
import Comparing
import Measuring
import StateCoding

/// One field of one row, on the primary and on a replica: in states of several sizes, and in several collections.
func incremental() {
    let sizes = [1_000, 100_000, 1_000_000]
    compare(
        "one row, primary",
        by: \.processor,
        sizes.map { publishing("\($0) rows", Table<String, Vehicle>.self, rows: $0) }
    )
    compare(
        "one row, replica, with a digest each",
        by: \.processor,
        sizes.map { applying("\($0) rows", Table<String, Vehicle>.self, rows: $0) }
    )
    compare(
        "one row, replica",
        by: \.processor,
        sizes.map { applying("\($0) rows", Table<String, Vehicle>.self, rows: $0, digests: false) }
    )
    compare(
        "one row of 100,000, primary",
        duration: .seconds(6),
        by: \.processor,
        [
            publishing("1 table", Table<String, Vehicle>.self, rows: 100_000),
            publishing("2 dictionary", [String: Vehicle].self, rows: 100_000, count: 5),
            publishing("3 array", [Vehicle].self, rows: 100_000, count: 5),
        ]
    )
    compare(
        "one row of 100,000, replica, with a digest each",
        duration: .seconds(6),
        by: \.processor,
        [
            applying("1 table", Table<String, Vehicle>.self, rows: 100_000),
            applying("2 dictionary", [String: Vehicle].self, rows: 100_000, count: 5),
            applying("3 array", [Vehicle].self, rows: 100_000, count: 5),
        ]
    )
}

/// - Parameter count: how many changes in a row, in each turn.
private func publishing<Rows: VehicleRows>(_ name: String, _: Rows.Type, rows: Int, count: Int = 100) -> Subject {
    let primary = Lazy { PrimarySubject<Rows>(rows: rows) }
    return Subject(name) { primary.value.publish(count) }
}

private func applying<Rows: VehicleRows>(
    _ name: String,
    _: Rows.Type,
    rows: Int,
    count: Int = 100,
    digests: Bool = true
) -> Subject {
    let replica = Lazy { ReplicaSubject<Rows>(rows: rows, digests: digests) }
    return Subject(name) { replica.value.apply(count) }
}
