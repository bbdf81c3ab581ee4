import StatecastCore

/// The authenticated user of a frame or subscription, and the user's rights at a store when it arrived.
package struct FrameSender: Hashable, Sendable {
    package let user: String
    /// The names of the store's actions that the user may send; `nil`: all.
    private let actions: Set<String>?
    private let store: StoreName

    package init(user: String, sendingTo store: StoreName, actions: Set<String>?) {
        self.user = user
        self.store = store
        self.actions = actions
    }

    /// Whether the user may send one of the store's actions.
    func maySend(_ action: String) -> Bool { actions?.contains(action) ?? true }

    /// - Throws: ``Rejection`` with code `not-permitted` if the user may not send the action.
    func requirePermission(toSend action: String) throws(Rejection) {
        guard let actions, !actions.contains(action) else { return }
        throw .notPermitted(toSend: action, to: store)
    }
}

extension Rejection {
    /// The rejection of an action for which a right is missing. Other users can read its message, which therefore names
    /// neither the user nor the payload.
    fileprivate static func notPermitted(toSend action: String, to store: StoreName) -> Rejection {
        Rejection(
            .notPermitted,
            "the access list of the primary has no send=\(store)/\(action) for the key of this sender"
        )
    }
}
