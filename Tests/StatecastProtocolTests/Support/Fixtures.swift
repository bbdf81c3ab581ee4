import StatecastCoding
import StatecastCore
import StatecastProtocol

/// Values that all tests share.
enum Fixture {
    static let lineage = Lineage(bits: 0xA1)
    static let otherLineage = Lineage(bits: 0xB2)
    static let epoch = Epoch(3)
    static let secret = SessionSecret(high: 1, low: 2)
    static let session = secret.session
    static let otherSecret = SessionSecret(high: 3, low: 4)
    static let otherSession = otherSecret.session
    static let endpoint = "tcp://*:4712"
    static let time = Timestamp(milliseconds: 1_700_000_000_000)

    /// A well-formed store name.
    static func store(_ text: String = "fleet") -> StoreName {
        do { return try StoreName(text) } catch { preconditionFailure("\(error)") }
    }

    static func position(_ revision: UInt64, epoch: Epoch = epoch, lineage: Lineage = lineage) -> Position {
        Position(lineage: lineage, epoch: epoch, revision: Revision(revision))
    }

    /// A patch that contains its revision.
    static func patch(to revision: UInt64) -> [UInt8] {
        Patch.replace(.unsigned(revision)).encode()
    }

    static func update(
        _ from: UInt64,
        _ to: UInt64,
        epoch: Epoch = epoch,
        lineage: Lineage = lineage
    ) -> Update {
        Update(lineage: lineage, epoch: epoch, from: Revision(from), to: Revision(to), patch: patch(to: to))
    }
}

extension Fixture {
    /// A frame of a session that begins with number 1.
    static func frame(_ actions: [[UInt8]], first: UInt64 = 1, of session: SessionID = session) -> ActionsFrame {
        ActionsFrame(
            lineage: lineage,
            session: session,
            opened: JournalSequence(0),
            base: ActionNumber(1),
            first: ActionNumber(first),
            actions: actions
        )
    }

    /// A history that begins with a state.
    static func history(of state: some Encodable) throws -> History {
        let summary = try Summary(ofEncoded: StateEncoder().encode(state))
        return History(lineage: lineage, epoch: epoch, summary: summary)
    }
}

extension Instant {
    /// A moment after the clock's origin.
    static func seconds(_ seconds: Double) -> Instant { Instant(offset: .seconds(seconds)) }
}

extension Limits {
    /// The standard limits, changed by the closure.
    static func with(_ change: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        change(&limits)
        return limits
    }
}
