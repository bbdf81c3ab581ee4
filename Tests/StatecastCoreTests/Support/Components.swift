import StatecastCore

/// A view that records its props.
@MainActor
final class Gauge<Props: Equatable & Sendable>: ViewComponent {
    nonisolated let seen = Arrivals<Props>()
    var props: Props {
        didSet { seen.record(props) }
    }

    init(_ props: Props) { self.props = props }
}

/// A service that records its props.
actor Logbook<Props: Equatable & Sendable>: Component {
    nonisolated let seen = Arrivals<Props>()

    func update(_ props: Props) { seen.record(props) }
}

/// Records its deallocation, and thereby that of its owner.
final class Life: Sendable {
    private let ends: Arrivals<Void>

    init(_ ends: Arrivals<Void>) { self.ends = ends }

    deinit { ends.record(()) }
}

/// A component that records its deallocation.
final class Mortal<Props: Equatable & Sendable>: Component {
    private let life: Life

    init(_ ends: Arrivals<Void>) { life = Life(ends) }

    func update(_ props: Props) async {}
}

/// A component without an actor that opens a gate at miles other than 0.
final class Bell: Component {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func update(_ miles: Int) async {
        if miles != 0 { gate.open() }
    }
}

/// Renders the miles of a lorry and the time.
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
