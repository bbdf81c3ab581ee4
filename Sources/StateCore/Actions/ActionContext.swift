/// What a reducer may know about an action beside the action itself.
///
/// It is recorded with the action, so that a replay reduces to the same state. A reducer takes its time from
/// here, never from a clock.
public struct ActionContext: Sendable, Hashable, Codable {
    /// When the keeper of the state (the primary, or a local core) took the action in.
    public var time: Timestamp
    /// The sender's session, or nil for an action of the keeper's own process.
    public var session: String?
    /// The authenticated user behind the session, or nil if nobody was authenticated.
    public var user: String?

    /// Describes an action taken in at `time`.
    @inlinable
    public init(time: Timestamp, session: String? = nil, user: String? = nil) {
        self.time = time
        self.session = session
        self.user = user
    }
}
