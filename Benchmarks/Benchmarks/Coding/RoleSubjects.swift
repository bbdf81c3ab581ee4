import Benchmark
import CodingSubjects
import Measuring

/// Changes rows, and measures what it takes to publish them.
final class PrimarySubject<Rows: VehicleRows> {
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

/// Measures what it takes to apply what a primary publishes.
final class ReplicaSubject<Rows: VehicleRows> {
    private let digests: Bool
    private var primary: PrimaryRole<Rows>
    private var role: ReplicaRole<Rows>

    /// - Parameter digests: whether keeping the digest is part of what is measured.
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
