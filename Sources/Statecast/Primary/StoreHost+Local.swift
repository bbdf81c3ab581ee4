internal import DequeModule

/// What the primary's own process asks for: actions become those of the primary's own session, in order.
extension StoreHost {
    /// Takes what has gathered, as far as that can be done now; the rest stays in line.
    func takeLocalRequests() {
        gather()
        takeWaiting()
    }

    /// Takes over what came in until now.
    func gather() { waiting.append(contentsOf: definition.entrance.drain()) }

    func takeWaiting() {
        while canTake, let request = waiting.first {
            switch request {
            case .action(let action):
                if action.isWanted {
                    take(action)
                } else {
                    action.settle(.failure(LocalAction.cancelled))
                }
            case .observe(let observer, let replay): join(observer, replay: replay)
            case .ignore(let observer): audience.leave(observer)
            }
            waiting.removeFirst()
        }
    }

    private func take(_ action: LocalAction) {
        let context = ActionContext(time: surroundings.clock.time)
        let bytes = bytesForJournal(of: action.action)
        take((try? bytes.get()) ?? [], of: .primary, machine.ownNumber, context: context, local: action) {
            () throws(Rejection) in
            _ = try bytes.get()
            return action.action
        }
    }

    /// Whether the next turn could take something in.
    var hasLocalRequests: Bool { canTake || (waiting.isEmpty && definition.entrance.hasRequests) }

    /// Whether the first in line can be taken now.
    var canTake: Bool {
        switch waiting.first {
        case nil: false
        case .action(let action): !action.isWanted || (hasRoomForOwn && !isBeingCancelled(action))
        case .observe, .ignore: true
        }
    }

    private var hasRoomForOwn: Bool { machine.ownRoom > 0 && hasRoom && !isFull }

    /// Whether an action that is reduced and not yet durable cancels the effect that sent this one. What comes of that is
    /// known once it is durable, or taken back; until then the result is neither wanted nor unwanted.
    func isBeingCancelled(_ action: LocalAction) -> Bool {
        guard case .result(let result) = action, let id = result.id else { return false }
        return cancelled.contains(id) || underway.contains { $0.cancelled.contains(id) }
    }

    /// The replayed state contains what was dispatched before, so a replay waits for what is not durable yet. Without one
    /// the observer joins at once: a batch that is open now may also hold actions that were sent later, and it must see these.
    private func join(_ observer: Listener<Change<State>>, replay: Bool) {
        if !replay {
            audience.join(observer, replay: false)
        } else if machine.hasOpenBatch {
            joining.append((observer, replay))
        } else if !underway.isEmpty {
            underway[underway.endIndex - 1].joining.append((observer, replay))
        } else {
            audience.join(observer, replay: replay)
        }
    }
}
