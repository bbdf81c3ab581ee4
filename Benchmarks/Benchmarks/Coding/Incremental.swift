import Benchmark
import CodingSubjects
import Comparing
import Measuring
import StatecastCoding

/// A change of one field of one row, on the primary and on a replica, in states of several sizes and collections.
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

/// - Parameter count: the changes in a sample.
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

/// Changes rows, and measures the cost of publishing them.
private final class PrimarySubject<Rows: VehicleRows> {
    private var role: PrimaryRole<Rows>

    init(rows: Int) {
        role = PrimaryRole(World(rows: Rows(count: rows)))
    }

    func publish(_ count: Int) -> Cost {
        var watch = Stopwatch()
        for _ in 0..<count {
            role.reduce()
            blackHole(watch.measure { succeed { try role.publish() } })
        }
        return watch.cost
    }
}

/// Measures the cost of applying a primary's patches.
private final class ReplicaSubject<Rows: VehicleRows> {
    private let digests: Bool
    private var primary: PrimaryRole<Rows>
    private var role: ReplicaRole<Rows>

    /// - Parameter digests: whether the measurement includes the digest.
    init(rows: Int, digests: Bool) {
        self.digests = digests
        let state = World(rows: Rows(count: rows))
        primary = PrimaryRole(state)
        role = ReplicaRole(state)
        _ = apply(3)
        precondition(role.state == primary.state && role.summary == primary.summary, "the replica must follow")
    }

    func apply(_ count: Int) -> Cost {
        var watch = Stopwatch()
        for _ in 0..<count {
            primary.reduce()
            let patch = succeed { try primary.publish() }
            watch.measure {
                succeed { try role.apply(patch) }
                if digests { succeed { try role.digest() } }
            }
            if !digests { succeed { try role.digest() } }
            role.show()
        }
        return watch.cost
    }
}
