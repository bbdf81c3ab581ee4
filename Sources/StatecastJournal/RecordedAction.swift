public import StatecastCoding
public import StatecastCore
public import StatecastProtocol

/// An action in a journal, with its outcome.
public struct RecordedAction: Hashable, Sendable {
    /// The place of an action in a journal.
    public struct ID: Hashable, Comparable, Sendable, LosslessStringConvertible {
        /// The record.
        public let sequence: JournalSequence
        /// The number of actions before it in the record, rejected ones included.
        public let index: Int

        /// Names an action.
        public init(sequence: JournalSequence, index: Int) {
            (self.sequence, self.index) = (sequence, index)
        }

        /// Reads the description.
        public init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let sequence = UInt64(parts[0]), let index = Int(parts[1]), index >= 0 else {
                return nil
            }
            self.init(sequence: JournalSequence(sequence), index: index)
            guard description == text else { return nil }
        }

        /// `SEQUENCE.INDEX`.
        public var description: String { "\(sequence).\(index)" }

        /// Orders by place.
        public static func < (left: ID, right: ID) -> Bool {
            (left.sequence, left.index) < (right.sequence, right.index)
        }
    }

    /// The place in the journal.
    public let id: ID
    /// The revision that the action made; of a rejected action, the one that it saw.
    public let revision: Revision
    /// The revision before the batch.
    public let from: Revision
    /// The revision after the batch.
    public let to: Revision
    /// The time at which the primary received the action.
    public let time: Timestamp
    /// The sender's session.
    public let session: SessionID
    /// The number in the session.
    public let number: ActionNumber
    /// The user that sent the action, if the primary identifies users.
    public let user: String?
    /// Why the action was rejected; `nil` if it was applied.
    public let rejection: Rejection?
    /// The name and the payload, encoded; empty if it is not recorded: too large, or not decodable.
    package let action: [UInt8]

    /// Whether the action was applied.
    public var isApplied: Bool { rejection == nil }

    /// The action's name; `nil` if the action is not recorded. Decodes only the name.
    public var name: String? {
        var reader = CBORReader(action)
        return (try? reader.arrayCount()).flatMap { _ in try? reader.text() }
    }

    /// The action's payload; `nil` if the action is not recorded. Decodes the action.
    public var payload: Value? { (try? Value(decoding: action))?.arrayValue?.last }
}

extension RecordedAction {
    /// The actions of a batch, in the order in which the primary received them.
    package static func list(of batch: BatchRecord, at sequence: JournalSequence) -> [RecordedAction] {
        var actions: [RecordedAction] = []
        var revision = batch.from
        for run in batch.runs {
            var number = run.first
            for entry in run.entries {
                if entry.rejection == nil { revision = revision.next }
                actions.append(
                    RecordedAction(
                        id: ID(sequence: sequence, index: actions.count),
                        revision: revision,
                        from: batch.from,
                        to: batch.to,
                        time: run.time,
                        session: run.session,
                        number: number,
                        user: run.user,
                        rejection: entry.rejection,
                        action: entry.action
                    )
                )
                number = number.next
            }
        }
        return actions
    }

    /// The actions of a record.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`.
    package static func list(reading record: JournalRecord) throws(JournalFailure) -> [RecordedAction] {
        list(of: try BatchRecord(reading: record), at: record.sequence)
    }
}
