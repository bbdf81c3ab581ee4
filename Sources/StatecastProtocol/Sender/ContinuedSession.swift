/// A session whose actions a client numbers, such as a page of a browser that sends through a gateway.
///
/// This process has saved nothing of it: the secret can be derived again, and the client keeps where it was opened, and
/// which outcomes it still needs. After a restart it submits these actions again, and the primary answers each with the
/// outcome that it remembers.
package struct ContinuedSession: Hashable, Sendable {
    package let secret: SessionSecret
    /// Where the primary opened it; `nil`: it was not opened yet.
    package let opening: SessionOpening?
    /// The number of the first action that is submitted.
    package let first: ActionNumber

    package init(_ secret: SessionSecret, opening: SessionOpening?, first: ActionNumber) {
        (self.secret, self.opening, self.first) = (secret, opening, first)
    }
}

/// The place in a history at which a primary opened a session. A primary that has forgotten the session refuses it by
/// this place, instead of applying an action again.
package struct SessionOpening: Hashable, Sendable, CustomStringConvertible {
    package let lineage: Lineage
    package let sequence: JournalSequence

    package init(lineage: Lineage, sequence: JournalSequence) {
        (self.lineage, self.sequence) = (lineage, sequence)
    }

    /// Reads the description in ASCII; `nil` if the text is malformed.
    package init?(utf8 text: ArraySlice<UInt8>) {
        var fields = Fields(rest: text, separator: UInt8(ascii: "."))
        guard let lineage = fields.next().flatMap({ Hexadecimal.bits($0) }),
            let sequence = fields.last().flatMap(Address.decimal)
        else { return nil }
        self.init(lineage: Lineage(bits: lineage), sequence: JournalSequence(sequence))
    }

    /// The lineage's 16 digits, a dot and the number: `f06f….812`.
    package var description: String { "\(lineage).\(sequence)" }
}
