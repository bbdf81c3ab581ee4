import StateCore

/// A view that notes the props it is set.
@MainActor
final class Gauge<Props: Equatable & Sendable>: ViewComponent {
    nonisolated let seen = Arrivals<Props>()
    var props: Props {
        didSet { seen.record(props) }
    }

    init(_ props: Props) { self.props = props }
}

/// A service that notes the props it is given.
actor Logbook<Props: Equatable & Sendable>: Component {
    nonisolated let seen = Arrivals<Props>()

    func update(_ props: Props) { seen.record(props) }
}

/// Says when it is gone, and with it who holds it.
final class Life: Sendable {
    private let ends: Arrivals<Void>

    init(_ ends: Arrivals<Void>) { self.ends = ends }

    deinit { ends.record(()) }
}

/// A component that says when it is gone.
final class Mortal<Props: Equatable & Sendable>: Component {
    private let life: Life

    init(_ ends: Arrivals<Void>) { life = Life(ends) }

    func update(_ props: Props) async {}
}

/// A component that lives on no actor, and opens a gate at miles other than 0.
final class Bell: Component {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func update(_ miles: Int) async {
        if miles != 0 { gate.open() }
    }
}

/// Shows how far a lorry got, and when that was.
struct MilesConnector: Connector {
    struct Props: Equatable, Sendable {
        var miles: Int
        var time: Timestamp = .epoch
    }

    var renderings = Tally()
    var life: Life?

    func props(from lorry: Lorry, at now: Timestamp) -> Props {
        renderings.counting(Props(miles: lorry.miles, time: now))
    }
}
