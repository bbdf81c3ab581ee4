import StatecastCore

/// How a replica shows that it is connected, and how far it is: by a subscription, which it replaces when its position
/// has moved.
package struct Announcement: Hashable, Sendable {
    /// `nil`: the replica does not announce itself.
    private let name: PeerName?
    private let nonce: Nonce
    private var topic: Topic?
    /// When the subscription may be replaced again.
    private var due: Instant

    package static let interval = Duration.seconds(3)

    init(_ name: PeerName?, _ nonce: Nonce, now: Instant) { (self.name, self.nonce, due) = (name, nonce, now) }

    /// A new connection has no subscriptions.
    mutating func reconnected(at now: Instant) { (topic, due) = (nil, now) }

    /// The time of the next ``update(_:at:)``; `nil` if the position is announced.
    func deadline(_ position: Position?) -> Instant? { wanted(position).flatMap { $0 == topic ? nil : due } }

    /// Announces a position. First the new subscription, so that the replica is always listed.
    mutating func update(_ position: Position?, at now: Instant) -> [ReplicaDirective] {
        guard let wanted = wanted(position), wanted != topic, now >= due else { return [] }
        defer { (topic, due) = (wanted, now.advanced(by: Self.interval)) }
        return [.subscribe(wanted)] + (topic.map { [.unsubscribe($0)] } ?? [])
    }

    private func wanted(_ position: Position?) -> Topic? { name.map { .peer(nonce, $0, position) } }
}
