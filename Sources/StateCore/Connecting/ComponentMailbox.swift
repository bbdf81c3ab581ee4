/// Where props wait for their component.
///
/// They are taken out on the component's own actor, where nothing gets in between that and the component: who closes the
/// box there knows that no props come any more.
struct ComponentMailbox<Target: Component>: Sendable {
    private let mailbox: Mailbox<Target.Props, Void>

    /// Does not keep the component; it closes once that is gone.
    init(of component: Target) {
        let isView = component is any ViewComponent
        mailbox = Mailbox(for: ()) { [weak component] mailbox in
            if isView, isOnMainActor, MainActor.assumeIsolated({ setProps(from: mailbox, of: component) }) { return }
            Task.detached {
                // Held for one letter at a time: what waits is not to keep a component that all others let go of.
                while let component {
                    guard await deliverNext(from: mailbox, to: component, on: home(of: component)) else { return }
                }
                mailbox.close()
            }
        }
    }

    /// Puts props in; a closed box drops them. Says whether ``callForReader()`` has to be called, once no lock is held.
    func put(_ props: Target.Props) -> Bool { mailbox.put(props) }

    /// Has the props delivered: at once to a view if the caller is on the main actor, else later.
    func callForReader() { mailbox.callForReader() }

    /// Forgets all props. None are taken out any more.
    func close() { mailbox.close() }
}

/// After this many props set in a row a view lets others have the main actor.
private let propsInARowMax = 64

/// Sets a view the props that wait for it. Says whether none is left.
@MainActor
private func setProps<Target: Component>(from mailbox: Mailbox<Target.Props, Void>, of component: Target?) -> Bool {
    guard let view = component as? any ViewComponent<Target.Props> else { return false }
    for _ in 0..<propsInARowMax {
        guard let (props, _) = mailbox.take() else { return true }
        view.props = props
    }
    return false
}

/// The actor that a component lives on; nil if it lives on none, or on one that it does not say.
private func home(of component: some Component) -> (any Actor)? {
    component is any ViewComponent ? MainActor.shared : component as? any Actor
}

/// Says whether there was anything to deliver.
private func deliverNext<Target: Component>(
    from mailbox: Mailbox<Target.Props, Void>,
    to component: Target,
    on home: isolated (any Actor)?
) async -> Bool {
    guard let (props, _) = mailbox.take() else { return false }
    await component.update(props)
    return true
}
