import StatecastCore

@MainActor
final class CounterView: ViewComponent {
    struct Props: Equatable, Sendable {
        var label = ""
        var onIncrease: Command<Void>?
        var onDecrease: Command<Void>?
    }

    private(set) var lines: [String] = []

    var props = Props() {
        didSet { lines.append(props.label) }
    }
}

struct CounterConnector: Connector {
    let dispatcher: any ActionDispatcher

    func props(from counter: Counter, at now: Timestamp) -> CounterView.Props {
        CounterView.Props(
            label: "\(counter.counter)",
            onIncrease: Command(id: "increase") { dispatcher.dispatch(CounterIncreaseRequested()) },
            onDecrease: counter.counter > 0
                ? Command(id: "decrease") { dispatcher.dispatch(CounterDecreaseRequested()) } : nil
        )
    }
}

/// Speaks what it receives.
actor Announcer: Component {
    private(set) var spoken: [String] = []

    func update(_ props: String) async { spoken.append(props) }
}
