/// Where props wait for their component.
///
/// They are taken out on the component's own actor, where nothing gets in between that and the component: who closes the
/// box there knows that no props come any more.
struct ComponentMailbox<Target: Component>: Sendable {
    private let mailbox: Mailbox<Target.Props, Void>

    /// Does not keep the component; it closes once that is gone.
    init(of component: Target) {
        mailbox = Mailbox(for: ()) { [weak component] mailbox in
            Task.detached {
                // Held for one letter at a time: what waits is not to keep a component that all others let go of.
                while let component {
                    guard await deliverNext(from: mailbox, to: component, on: home(of: component)) else { return }
                }
                mailbox.close()
            }
        }
    }

    /// Puts props in; a closed box drops them.
    func post(_ props: Target.Props) { mailbox.post(props) }

    /// Forgets all props. None are taken out any more.
    func close() { mailbox.close() }
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
