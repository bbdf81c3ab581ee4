/// Where props wait for a component: a ``Mailbox`` whose reader sets or updates the component.
///
/// Props are taken out on the component's own actor, and nothing runs there between that and the component: after the box
/// is closed on that actor, no props arrive.
protocol ComponentMailbox<Letter>: Sendable {
    associatedtype Letter: Sendable

    /// Puts props in; a closed box drops them. Returns whether the caller must call ``callForReader()``, after it has
    /// released its locks.
    func put(_ props: Letter) -> Bool

    /// Has the props delivered: at once to a view if the caller is on the main actor, else later.
    func callForReader()

    /// Drops all props. None are taken out any more.
    func close()
}

extension Mailbox: ComponentMailbox {}

/// A mailbox of a component, which it references weakly.
func mailbox<Target: Component>(of component: Target) -> any ComponentMailbox<Target.Props> {
    if let view = component as? any ViewComponent<Target.Props> { return mailbox(of: view) }
    return Mailbox<Target.Props, Void>(for: ()) { [weak component] mailbox in
        Task.detached {
            // Held for one letter at a time, so that waiting props do not keep a component alive.
            while let component {
                guard await deliverNext(from: mailbox, to: component, on: component as? any Actor) else { return }
            }
            mailbox.close()
        }
    }
}

/// A mailbox of a view, whose props are set where callbacks on the main actor are called.
private func mailbox<View: ViewComponent>(of view: View) -> any ComponentMailbox<View.Props> {
    Mailbox(at: .mainActor) { [weak view] props in
        MainActor.assumeIsolated { view?.props = props }
    }
}

/// Returns whether there was anything to deliver.
private func deliverNext<Target: Component>(
    from mailbox: Mailbox<Target.Props, Void>,
    to component: Target,
    on home: isolated (any Actor)?
) async -> Bool {
    guard let (props, _) = mailbox.take() else { return false }
    await component.update(props)
    return true
}
