/// Consumes props: a view, a player of sounds, a writer of reports.
///
/// Conform to this with a class or an actor whose work may take time, and to ``ViewComponent`` with one that lives on the
/// main actor. The props say all that it has to know; commands in them say what it can ask for.
public protocol Component<Props>: AnyObject, Sendable {
    /// What it needs to know.
    associatedtype Props: Equatable & Sendable

    /// Takes the next props. Called for one at a time, in order; the next ones wait until this returns.
    func update(_ props: Props) async
}

/// A component of the main actor: its props are set there.
///
/// `update(_:)` is never called for a view component: do not implement it.
@MainActor
public protocol ViewComponent<Props>: Component {
    /// What it shows: repeated here, so that it is clear from the type of `props`.
    associatedtype Props

    /// What it shows. Set when they differ from the ones set before, and once at the start: draw in `didSet`.
    var props: Props { get set }
}

extension ViewComponent {
    /// Sets the props.
    public func update(_ props: Props) async { self.props = props }
}
