package import StatecastCoding
import StatecastCore

/// The state of a store at a revision.
///
/// A class: types that hold a version then have a fixed layout, and copying them needs no metadata of `State`.
package final class Version<State: Sendable>: AnyVersion {
    package let state: State
    package let summary: Summary
    package let revision: Revision
    /// The last record that it contains.
    package let sequence: JournalSequence

    init(state: State, summary: Summary, revision: Revision, sequence: JournalSequence) {
        (self.state, self.summary, self.revision, self.sequence) = (state, summary, revision, sequence)
    }

    /// - Precondition: The version was made by an engine of `State`.
    package static func typed(_ version: any AnyVersion) -> Self {
        guard let version = version as? Self else { preconditionFailure("expected a \(Self.self), got \(version)") }
        return version
    }
}

/// A version, in code that does not depend on the type of its state. Where code is generic over the state, each value
/// whose type depends on it costs a lookup of metadata: a tenth of a primary's single action.
package protocol AnyVersion: AnyObject, Sendable {
    var summary: Summary { get }
    var revision: Revision { get }
    /// The last record that it contains.
    var sequence: JournalSequence { get }
}

/// The patch of a batch, and the summary of the state after it.
struct StateChange {
    /// Empty if no action was applied.
    let patch: [UInt8]
    let summary: Summary

    /// - Throws: ``Rejection`` if the change cannot be published.
    init<State: Codable & Equatable & Sendable>(
        from version: Version<State>,
        to batch: Batch<State>,
        _ limits: Limits
    ) throws(Rejection) {
        guard batch.revision > version.revision else {
            (patch, summary) = ([], version.summary)
            return
        }
        let difference: Difference
        do { difference = try Differ.patch(from: version.state, to: batch.state) } catch {
            throw Rejection(.unencodable, "the state cannot be published after it: \(error)")
        }
        patch = difference.patch.encode()
        guard patch.count <= limits.maxPatchBytes else {
            throw Rejection(
                .tooLarge,
                """
                the change has \(patch.count) bytes, an update at most \(limits.maxPatchBytes): make it in several \
                actions
                """
            )
        }
        var summary = version.summary
        summary.advance(by: difference)
        guard summary.bytes <= max(limits.maxSnapshotBytes, version.summary.bytes) else {
            throw Rejection(
                .tooLarge,
                """
                the state would have more than the \(limits.maxSnapshotBytes) bytes that a replica accepts
                """
            )
        }
        self.summary = summary
    }
}
