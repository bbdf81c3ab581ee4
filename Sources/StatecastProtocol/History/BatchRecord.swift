package import StatecastCoding
package import StatecastCore

/// A batch in the journal: its actions, their outcomes, and the patch.
///
/// Recovery applies the patch. The actions are kept for inspection and for replaying them with another reducer.
/// ``RecordEntries`` writes records.
package struct BatchRecord: Hashable, Sendable {
    /// The incarnation that wrote the record.
    package var epoch: Epoch
    package var from: Revision
    package var to: Revision
    /// Of the state after the batch.
    package var summary: Summary
    /// In the order of their reduction.
    package var runs: [Run]
    /// The sessions that were evicted to make room for others.
    package var forgotten: [SessionID]
    /// The patch from the state at `from` to the state at `to`; empty if these are equal.
    package var patch: [UInt8]
    /// The number of migrations that the state after the record went through, if the record contains a migration.
    package var migrations: Int?

    package init(
        epoch: Epoch,
        from: Revision,
        to: Revision,
        summary: Summary,
        runs: [Run] = [],
        forgotten: [SessionID] = [],
        patch: [UInt8],
        migrations: Int? = nil
    ) {
        self.epoch = epoch
        self.from = from
        self.to = to
        self.summary = summary
        self.runs = runs
        self.forgotten = forgotten
        self.patch = patch
        self.migrations = migrations
    }

    /// Consecutive actions of one session that arrived together.
    package struct Run: Hashable, Sendable {
        package var session: SessionID
        package var opened: JournalSequence
        package var first: ActionNumber
        package var time: Timestamp
        package var user: String?
        package var entries: [Entry]
    }

    /// An action and its outcome. Each applied action is one revision; the revisions follow the order of the record.
    package struct Entry: Hashable, Sendable {
        /// The action as it reached the reducer, or as it arrived if it was rejected; empty if it was too large or
        /// could not be decoded.
        package var action: [UInt8]
        /// `nil` if the action was applied.
        package var rejection: Rejection?
    }
}

extension BatchRecord {
    /// Decodes a record.
    ///
    /// - Throws: ``CodingFailure`` that names the malformed part.
    package init(decoding body: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(body, limits: .record)
        let count = try reader.arrayCount(atLeast: 8)
        epoch = try reader.quantity()
        from = try reader.quantity()
        to = try reader.quantity()
        summary = Summary(digest: try reader.unsigned(), bytes: try reader.count())
        runs = try reader.list { reader throws(CodingFailure) in try Run(from: &reader) }
        forgotten = try reader.list { reader throws(CodingFailure) in try reader.session() }
        patch = reader.isNull() ? [] : try reader.encodedItem()
        guard (from == to) == patch.isEmpty, from <= to else {
            throw CodingFailure(
                .malformed,
                "a record from revision \(from) to \(to) has a patch of \(patch.count) bytes"
            )
        }
        migrations = count > 8 ? try reader.optional { reader throws(CodingFailure) in try reader.count() } : nil
        for _ in min(9, count)..<count { try reader.skip() }
        try reader.requireEnd()
    }

    /// Reads only the patch of a record; `nil` if it has none.
    ///
    /// - Throws: ``CodingFailure`` that names the malformed part.
    package static func patch(in body: [UInt8]) throws(CodingFailure) -> Patch? {
        var reader = CBORReader(body, limits: .record)
        _ = try reader.arrayCount(atLeast: 8)
        for _ in 0..<7 { try reader.skip() }
        return reader.isNull() ? nil : try Patch(reading: &reader)
    }
}

extension CodingLimits {
    /// A patch nests up to about twice as deep as its state.
    fileprivate static let record = CodingLimits(maxDepth: 3 * CodingLimits.standard.maxDepth)
}

extension BatchRecord.Run {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(6)
        session = try reader.session()
        opened = try reader.quantity()
        first = try reader.quantity()
        time = try reader.timestamp()
        user = try reader.optional { reader throws(CodingFailure) in try reader.text() }
        entries = try reader.list { reader throws(CodingFailure) in
            guard reader.peek == .array else { return BatchRecord.Entry(action: try reader.bytes(), rejection: nil) }
            try reader.fixedArray(3)
            return BatchRecord.Entry(action: try reader.bytes(), rejection: try reader.rejection())
        }
    }
}
