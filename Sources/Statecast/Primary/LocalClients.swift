import StatecastProtocol

/// The observers and callers in the primary's own process: the engine knows their IDs, and this object what these stand
/// for. Used on the node's loop only.
final class LocalClients<State: Sendable> {
    private let mailbox: LocalMailbox<State>
    private var observers = ObserverSet<State>()
    /// The observers that the engine knows, and their IDs.
    private var listeners: [ObserverID: Listener<Change<State>>] = [:]
    private var observerIDs: [ObjectIdentifier: ObserverID] = [:]
    /// The actions whose outcome the engine will report.
    private var calls: [LocalID: MailboxAction] = [:]
    /// The number of IDs that were given to observers and calls.
    private var idsCount: UInt64 = 0

    init(_ mailbox: LocalMailbox<State>) { self.mailbox = mailbox }

    // MARK: Requests

    /// Opens the mailbox for a store that is served from now on.
    ///
    /// - Parameter wake: called when a request arrives in the empty mailbox.
    func open(wake: @escaping @Sendable () -> Void) { mailbox.open(wake: wake) }

    var hasRequests: Bool { mailbox.hasRequests }

    /// Dequeues the requests for the engine, in order.
    func dequeueAll() -> [LocalRequest] {
        // Most turns find none, and to ask costs less than to dequeue an empty array.
        mailbox.hasRequests ? mailbox.dequeueAll().compactMap { localRequest($0) } : []
    }

    /// - Returns: `nil` if the request needs no work of the engine.
    private func localRequest(_ request: MailboxRequest<State>) -> LocalRequest? {
        switch request {
        case .action(let action):
            guard action.isWanted else {
                action.resolve(.failure(.effectCancelled))
                return nil
            }
            if case .dispatched(let action) = action { return .action(LocalAction(action, origin: .dispatched)) }
            idsCount += 1
            let id = LocalID(idsCount)
            calls[id] = action
            return .action(LocalAction(action.action, id: id, origin: action.origin))
        case .observe(let listener, let replay):
            idsCount += 1
            let id = ObserverID(idsCount)
            listeners[id] = listener
            observerIDs[ObjectIdentifier(listener)] = id
            return .observe(id, replay)
        case .ignore(let listener):
            return observerIDs[ObjectIdentifier(listener)].map { .ignore($0) }
        }
    }

    /// Enqueues the actions that middlewares dispatched.
    func dispatch(_ actions: [any Action]) {
        for action in actions { mailbox.dispatch(action) }
    }

    /// Closes the mailbox of a store that is not served any more, and releases the observers.
    ///
    /// - Parameter requests: those that the engine has not processed.
    func close(returning requests: [LocalRequest]) {
        mailbox.close(
            returning: requests.compactMap { request in
                guard case .action(let action) = request else { return nil }
                return .action(action.id.flatMap { calls[$0] } ?? .dispatched(action.action))
            }
        )
        (observers, listeners, observerIDs, calls) = (ObserverSet(), [:], [:], [:])
    }

    // MARK: Results

    func show(_ state: State, _ revision: Revision) {
        mailbox.show(state)
        observers.show(state, revision: revision.rawValue)
    }

    func addObserver(_ id: ObserverID, _ replay: Replay) {
        if let listener = listeners[id] { observers.insert(listener, replay: replay) }
    }

    func removeObserver(_ id: ObserverID) {
        guard let listener = listeners.removeValue(forKey: id) else { return }
        observerIDs[ObjectIdentifier(listener)] = nil
        observers.remove(listener)
    }

    func answer(_ id: LocalID, _ outcome: LocalOutcome) {
        let result: Result<Receipt, Rejection> =
            switch outcome {
            case .applied(let number, let position):
                .success(Receipt(session: .primary, number: number, position: position))
            case .rejected(let rejection): .failure(rejection)
            }
        calls.removeValue(forKey: id)?.resolve(result)
    }
}
