package import Journal
package import StateCore
package import SyncProtocol

/// What was saved of a damaged journal, and what was not.
package struct JournalSalvage: Sendable {
    /// What was saved.
    package let copy: JournalCopy
    /// What ended it; `nil` if nothing is damaged.
    package let damage: String?
    /// The last revision that was acknowledged; `nil` if that cannot be read.
    package let acknowledged: Revision?
    /// Revisions before those that were saved, to which nobody can go back any more.
    package let lostHistory: Revision?
    /// The revisions of snapshots that were left out, because they are not what whole records lead to.
    package let contradicted: [Revision]

    /// Makes a journal of what can be read of another one: the last state to which anything leads, with all the history
    /// before it that is unbroken, under a new lineage. Where a snapshot is not what whole
    /// records lead to, the records count. The damaged one stays as it is.
    ///
    /// - Parameters:
    ///   - store: the store's name, for a journal that cannot say it any more.
    ///   - begun: when the new lineage begins.
    /// - Throws: ``JournalFailure`` with code `in-use` while a primary has it; with code `damaged` if no state can be read.
    package static func salvage(
        _ path: String,
        to target: String,
        store: StoreName?,
        begun: Timestamp
    ) throws(JournalFailure) -> JournalSalvage {
        let directory = JournalDirectory(path: path)
        try directory.requireName()
        guard directory.hasDatabase || (try? directory.snapshots())?.isEmpty == false else { throw directory.absent }
        try directory.requireReadable()
        let lock = try DirectoryLock.whileReading(directory)
        defer { withExtendedLifetime(lock) {} }
        let source = try DamagedJournal(directory)
        let chain = try source.longestChain()
        guard let name = source.store ?? store else {
            throw JournalFailure(
                .damaged,
                "the journal \(path) cannot say any more which store it holds: name it with --store"
            )
        }
        let identity = JournalIdentity(store: name, lineage: Lineage(bits: 0), begun: begun).inNewLineage(begun: begun)
        try JournalDraft.write(to: target, identity, from: chain.start, as: .journal) { draft throws(JournalFailure) in
            try draft.claim(source.epochs(of: chain))
            try draft.takeRecords(through: chain.end.sequence) { last, body throws(JournalFailure) in
                try source.forEachRecord(after: last, body)
            }
            for snapshot in source.snapshots(in: chain) { try draft.store(snapshot) }
        }
        return JournalSalvage(
            copy: JournalCopy(identity: identity, from: chain.start.entry, to: chain.end),
            damage: chain.damage,
            acknowledged: source.acknowledged?.revision,
            lostHistory: chain.lostHistory,
            contradicted: chain.contradicted
        )
    }
}
