import StatecastZeroMQ

/// How a primary encrypts its connections, and which peers it accepts.
public struct PrimarySecurity: Sendable {
    /// The primary's keys. Replicas and senders have to know the public one.
    public var keys: NodeKeys
    /// The path of the access list, a file in the form of ``AccessList``. It is read again when it has changed.
    public var accessList: String

    /// Security with a primary's keys, and with the access list at a path.
    public init(keys: NodeKeys, accessList: String) {
        self.keys = keys
        self.accessList = accessList
    }
}

/// How a replica or a sender encrypts its connection, and which primary it trusts.
public struct ClientSecurity: Hashable, Sendable {
    /// The node's own keys. The primary's access list has to contain the public one.
    public var keys: NodeKeys
    /// The public key of the only primary to which the node connects.
    public var primary: NodePublicKey

    /// Security with a node's keys and the public key of its primary.
    public init(keys: NodeKeys, primary: NodePublicKey) {
        self.keys = keys
        self.primary = primary
    }

    var curve: CurveSecurity { .client(keys.curve, server: primary.curve) }
}
