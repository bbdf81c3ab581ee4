package import StateCore

/// A batch as the journal keeps it: what came, what became of it, and what it changed.
///
/// Recovery applies the patch; the actions are kept for whoever wants to know, or to try another reducer on them.
package struct BatchRecord: Hashable, Sendable {
    /// Which incarnation of the primary wrote it.
    package var epoch: Epoch
    package var from: Revision
    package var to: Revision
    /// Digest and size of the state behind it.
    package var digest: UInt64
    package var bytes: Int
    /// In the order in which they were taken.
    package var runs: [Run]
    /// Sessions that were forgotten to make room for others.
    package var forgotten: [SessionID]
    /// From the state at `from` to the one at `to`; empty if these are equal.
    package var patch: [UInt8]
    /// How many migrations the state behind it has been through, if this record is where it went through some.
    package var migrations: Int?

    package init(
        epoch: Epoch,
        from: Revision,
        to: Revision,
        digest: UInt64,
        bytes: Int,
        runs: [Run] = [],
        forgotten: [SessionID] = [],
        patch: [UInt8],
        migrations: Int? = nil
    ) {
        self.epoch = epoch
        self.from = from
        self.to = to
        self.digest = digest
        self.bytes = bytes
        self.runs = runs
        self.forgotten = forgotten
        self.patch = patch
        self.migrations = migrations
    }

    /// Drops the rejection messages that their sessions will not remember: each session keeps the newest, at most
    /// `bytesMax` bytes together.
    package mutating func forgetMessages(bytesMax: Int) {
        var bytes: [SessionID: Int] = [:]
        for run in runs.indices.reversed() {
            for entry in runs[run].entries.indices.reversed() {
                guard let rejection = runs[run].entries[entry].rejection else { continue }
                bytes[runs[run].session, default: 0] += rejection.message.utf8.count
                guard bytes[runs[run].session, default: 0] > bytesMax else { continue }
                runs[run].entries[entry].rejection = Rejection(rejection.code, "")
            }
        }
    }

    /// Consecutive actions of one session that came together.
    package struct Run: Hashable, Sendable {
        package var session: SessionID
        package var opened: JournalSequence
        package var first: ActionNumber
        package var time: Timestamp
        package var user: String?
        package var entries: [Entry]

        package init(
            session: SessionID,
            opened: JournalSequence,
            first: ActionNumber,
            time: Timestamp,
            user: String?,
            entries: [Entry]
        ) {
            self.session = session
            self.opened = opened
            self.first = first
            self.time = time
            self.user = user
            self.entries = entries
        }
    }

    /// One action and its outcome. Each that was applied is a revision; they follow each other in the order of the record.
    package struct Entry: Hashable, Sendable {
        /// As it reached the reducer, name and payload; as it came, if it was rejected; empty, if it was too large or could
        /// not be read.
        package var action: [UInt8]
        /// `nil` if it was applied.
        package var rejection: Rejection?

        package init(action: [UInt8], rejection: Rejection?) {
            self.action = action
            self.rejection = rejection
        }
    }
}
