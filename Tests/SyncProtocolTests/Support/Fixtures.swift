import StateCoding
import StateCore
import SyncProtocol

/// Names and moments that any test may use.
enum Fixture {
    static let lineage = Lineage(bits: 0xA1)
    static let otherLineage = Lineage(bits: 0xB2)
    static let epoch = Epoch(3)
    static let session = SessionID(high: 1, low: 2)
    static let otherSession = SessionID(high: 3, low: 4)
    static let endpoint = "tcp://*:4712"
    static let time = Timestamp(milliseconds: 1_700_000_000_000)

    /// A store's name that the caller knows to be well-formed.
    static func store(_ text: String = "fleet") -> StoreName {
        do { return try StoreName(text) } catch { preconditionFailure("\(error)") }
    }

    static func position(_ revision: UInt64, epoch: Epoch = epoch, lineage: Lineage = lineage) -> Position {
        Position(lineage: lineage, epoch: epoch, revision: Revision(revision))
    }

    /// A patch that says where it leads.
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

extension Instant {
    /// So many seconds behind the clock's origin.
    static func seconds(_ seconds: Double) -> Instant { Instant(offset: .seconds(seconds)) }
}

extension Limits {
    /// The standard limits but for what the closure changes.
    static func with(_ change: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        change(&limits)
        return limits
    }
}
