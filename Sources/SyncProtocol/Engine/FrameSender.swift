internal import StateCore

/// The user who sent a frame of actions to a store, as the transport authenticated it, and its rights when the frame
/// arrived.
package struct FrameSender: Hashable, Sendable {
    package let user: String
    /// The names of the store's actions that the user may send; `nil`: all.
    package let actions: Set<String>?

    package init(user: String, actions: Set<String>?) {
        self.user = user
        self.actions = actions
    }

    /// - Throws: ``Rejection`` with code `not-permitted` if the user may not send the action. The message contains
    ///   nothing of its payload.
    func requirePermission(toSend action: String) throws(Rejection) {
        guard let actions, !actions.contains(action) else { return }
        throw Rejection(
            .notPermitted,
            "the access list of the primary does not permit \(user) to send \(action) to this store"
        )
    }
}
