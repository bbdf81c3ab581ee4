package import StateCoding
import StateCore

/// What goes with the state in a snapshot: all else that a primary goes on from.
package struct SnapshotContext: Hashable, Sendable {
    /// Which incarnation of the primary made it.
    package let epoch: Epoch
    /// The declared version of the State that was encoded.
    package let fingerprint: UInt64
    /// Digest and size of the state.
    package let summary: Summary
    /// The senders, as far as their outcomes are durable there.
    package let sessions: SessionTable
    /// How many migrations the state has been through.
    package let migrations: Int

    package init(epoch: Epoch, fingerprint: UInt64, summary: Summary, sessions: SessionTable, migrations: Int) {
        self.epoch = epoch
        self.fingerprint = fingerprint
        self.summary = summary
        self.sessions = sessions
        self.migrations = migrations
    }

    /// In CBOR; elements behind these may come in later versions.
    package var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.array(count: 6)
        writer.write(epoch)
        writer.unsigned(fingerprint)
        writer.unsigned(summary.digest)
        writer.write(count: summary.bytes)
        sessions.write(to: &writer)
        writer.write(count: migrations)
        return writer.bytes
    }

    /// Reads what stands with a snapshot.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount()
        guard count >= 6 else {
            throw CodingFailure(.malformed, "a snapshot's context has at least 6 elements, \(count) came")
        }
        epoch = try reader.quantity()
        fingerprint = try reader.unsigned()
        summary = Summary(digest: try reader.unsigned(), bytes: try reader.count())
        sessions = try SessionTable(from: &reader)
        migrations = try reader.count()
        for _ in 6..<count { try reader.skip() }
        try reader.requireEnd()
    }
}
