import Comparing
import Dispatch
import Measuring
import StatecastCore

/// A state with 12 fields, from which the props of one consumer are made.
struct Truck: Equatable, Sendable {
    var name = "truck 7"
    var plate = "B ST 1234"
    var driver: String? = "Kim"
    var speed = 82.5
    var heading = 120.0
    var fuel = 0.75
    var temperature = 88.0
    var miles = 0
    var trips = 12
    var load = 7_500
    var isMoving = true
    var isLocked = false

    /// The props as a computed part of the state.
    var props: TruckProps { TruckProps(self) }

    static let reducer = Reducer<Truck>(of: TruckMoved.self) { truck, _ in truck.miles += 1 }

    static let reduce: @Sendable (inout Truck, any Action) -> Void = { truck, action in
        _ = reducer.reduce(into: &truck, action, context: ActionContext(time: .epoch))
    }
}

struct TruckMoved: Action {}

/// What a view or a service shows of a truck.
struct TruckProps: Equatable, Sendable {
    var title: String
    var subtitle: String
    var driver: String
    var speed: Int
    var heading: Int
    var fuelPercent: Int
    var isHot: Bool
    var miles: Int
    var trips: Int
    var tons: Double
    var isMoving: Bool
    var isLocked: Bool

    init(_ truck: Truck) {
        title = truck.name
        subtitle = truck.plate
        driver = truck.driver ?? "no driver"
        speed = Int(truck.speed)
        heading = Int(truck.heading)
        fuelPercent = Int(100 * truck.fuel)
        isHot = truck.temperature > 100
        miles = truck.miles
        trips = truck.trips
        tons = Double(truck.load) / 1_000
        isMoving = truck.isMoving
        isLocked = truck.isLocked
    }
}

/// Props of 12 fields, which differ after each action: by an observer that compares, by a scope, by a component.
func props() {
    let actions = 100_000
    compare(
        "12 fields to props, scope",
        [
            Subject("observer that compares") {
                observing(actions) { core, tally in
                    let last = Last(TruckProps(Truck()))
                    return core.observe(replay: .none) { change in
                        let props = change.new.props
                        if last.replace(with: props) { tally.show(props.miles) }
                    }
                }
            },
            Subject("scope") {
                observing(actions) { core, tally in
                    core.scope(\.props).observe(replay: .none) { tally.show($0.new.miles) }
                }
            },
        ]
    )
    compare(
        "12 fields, scope of a stored part",
        [
            Subject("observer that compares") {
                parking { core, tally in
                    let last = Last(Truck())
                    return core.observe(replay: .none) { change in
                        let truck = change.new.truck
                        if last.replace(with: truck) { tally.show(truck.miles) }
                    }
                }
            },
            Subject("scope") {
                parking { core, tally in
                    core.scope(\.truck).observe(replay: .none) { tally.show($0.new.miles) }
                }
            },
        ]
    )
    compare(
        "12 fields to props, component",
        [
            Subject("classic, queue") {
                let store = ClassicStore(Truck(), reduce: Truck.reduce)
                let tally = Tally(goal: actions)
                let queue = DispatchQueue(label: "component")
                let last = Last(TruckProps(Truck()))
                store.observe { truck in
                    queue.async {
                        let props = TruckProps(truck)
                        if last.replace(with: props) { tally.show(props.miles) }
                    }
                }
                store.drain()
                return moving(actions, tally, store.dispatch)
            },
            Subject("core, component without an actor") {
                let tally = Tally(goal: actions)
                return connecting(actions, Recorder(tally), tally)
            },
            Subject("core, actor") {
                let tally = Tally(goal: actions)
                return connecting(actions, ActorRecorder(tally), tally)
            },
            Subject("core, actor on a queue") {
                let tally = Tally(goal: actions)
                return connecting(actions, QueueRecorder(tally), tally)
            },
        ]
    )
}

/// A state whose part is stored, so that its key path is writable.
struct Garage: Equatable, Sendable {
    var count = 0
    var truck = Truck()
}

private func parking(_ observe: (Core<Garage>, Tally) -> Subscription) -> Cost {
    let actions = 100_000
    let core = Core(
        Garage(),
        reducer: Reducer(of: TruckMoved.self) { garage, _ in
            garage.count += 1
            garage.truck.miles += 1
        }
    )
    let tally = Tally(goal: actions)
    let subscription = observe(core, tally)
    defer { subscription.cancel() }
    return moving(actions, tally, core.dispatch)
}

private func observing(_ actions: Int, _ observe: (Core<Truck>, Tally) -> Subscription) -> Cost {
    let core = Core(Truck(), reducer: Truck.reducer)
    let tally = Tally(goal: actions)
    let subscription = observe(core, tally)
    defer { subscription.cancel() }
    return moving(actions, tally, core.dispatch)
}

private func connecting(_ actions: Int, _ component: some Component<TruckProps>, _ tally: Tally) -> Cost {
    let core = Core(Truck(), reducer: Truck.reducer)
    let connection = core.connect(component, to: \.props)
    defer { connection.cancel() }
    return moving(actions, tally, core.dispatch)
}

/// The cost of an action until the consumer of the props has received those of the last one.
private func moving(_ actions: Int, _ tally: Tally, _ dispatch: (any Action) -> Void) -> Cost {
    .each(of: actions) {
        for _ in 0..<actions { dispatch(TruckMoved()) }
        tally.waitUntilReached()
    }
}

/// The last props of a consumer, which accesses them in one context alone.
private final class Last<Props: Equatable & Sendable>: Sendable {
    nonisolated(unsafe) private var props: Props

    init(_ props: Props) { self.props = props }

    /// Returns whether `next` differs from the last props.
    func replace(with next: Props) -> Bool {
        guard next != props else { return false }
        props = next
        return true
    }
}

/// A component without an actor.
private final class Recorder: Component {
    private let tally: Tally

    init(_ tally: Tally) { self.tally = tally }

    func update(_ props: TruckProps) async { tally.show(props.miles) }
}

/// A component that is an actor.
private actor ActorRecorder: Component {
    private let tally: Tally

    init(_ tally: Tally) { self.tally = tally }

    func update(_ props: TruckProps) { tally.show(props.miles) }
}

/// An actor whose executor is a serial queue.
private actor QueueRecorder: Component {
    private let tally: Tally
    private let executor = QueueExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ tally: Tally) { self.tally = tally }

    func update(_ props: TruckProps) { tally.show(props.miles) }
}

private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "component")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
