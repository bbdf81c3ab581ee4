import StateCoding
import StateCore
import SyncProtocol

/// An action of the model: its sender, and its serial number there.
struct ModelAction: Action, Hashable, CustomStringConvertible {
    static let name = "m"

    let sender: Int
    let serial: Int

    private enum CodingKeys: String, CodingKey {
        case sender = "s"
        case serial = "n"
    }

    /// The index of the primary's own process among the senders.
    static let itself = -1

    /// Every seventh is refused by policy, if there is one.
    var isRefused: Bool { serial % 7 == 3 }
    /// It changes so much that two such actions do not fit an update.
    var isLarge: Bool { serial % 5 == 2 }
    /// Its change does not fit an update.
    var isTooLarge: Bool { serial % 13 == 9 }
    /// It starts an effect, or cancels those that were started.
    var startsWork: Bool { sender == Self.itself && serial % 4 == 1 }
    var cancelsWork: Bool { sender == Self.itself && serial % 9 == 4 }

    var description: String { "action \(serial) of sender \(sender)" }

    init(sender: Int, serial: Int) {
        self.sender = sender
        self.serial = serial
    }

    var bytes: [UInt8] {
        do { return try ActionTable.encode(self) } catch { preconditionFailure("\(error)") }
    }

    init(decoding bytes: [UInt8]) throws {
        guard let action = try ModelState.table.decode(bytes) as? ModelAction else {
            throw CodingFailure(.malformed, "no action of the model")
        }
        self = action
    }
}

/// A state that counts the applied actions of each sender, and has a note of the last one if that is large.
struct ModelState: Codable, Hashable, Sendable {
    private var counts: [String: UInt64] = [:]
    private var notes: [String: String] = [:]

    /// The number of bytes of a patch that holds one note, and not two.
    static let patchBytesMax = 120

    static var table: ActionTable {
        do { return try ActionTable([ModelAction.self]) } catch { preconditionFailure("\(error)") }
    }

    mutating func apply(_ action: ModelAction) {
        let sender = "\(action.sender)"
        counts[sender, default: 0] += 1
        notes[sender] = action.isTooLarge ? Self.note(200) : action.isLarge ? Self.note(56) : nil
    }

    private static func note(_ count: Int) -> String { String(repeating: "n", count: count) }

    var digest: UInt64 {
        do { return try Summary(ofEncoded: StateEncoder().encode(self)).digest } catch {
            preconditionFailure("\(error)")
        }
    }

    /// - Parameter refuses: whether a middleware refuses actions.
    static func program(refuses: Bool) -> StoreProgram<ModelState> {
        StoreProgram(
            table,
            reducer: Reducer(of: ModelAction.self) { state, action -> Effect in
                state.apply(action)
                if action.startsWork { return .run(id: "work") { _ in } }
                return action.cancelsWork ? .cancel(id: "work") : .none
            },
            middleware: refuses
                ? [
                    .policy { action, _ in
                        guard let action = action as? ModelAction, action.isRefused else { return }
                        throw Rejection(.refused, "every seventh")
                    }
                ] : [],
            dispatcher: KeptDispatcher()
        )
    }
}

/// What a primary of the model has published.
struct ModelHistory {
    let lineage: Lineage
    /// The action that made each revision.
    private(set) var applied: [Revision: ModelAction] = [:]
    /// The digest of the state at each revision that was published.
    private(set) var digests: [Revision: UInt64] = [Revision(0): ModelState().digest]
    /// The number of times that each action was applied.
    private(set) var timesApplied: [ModelAction: Int] = [:]

    init(_ primary: EngineBench<ModelState>) throws {
        lineage = primary.engine.position.lineage
        for (state, revision) in primary.log.shown { digests[revision] = state.digest }
        for batch in primary.log.stored {
            var revision = batch.from
            for entry in batch.record.runs.flatMap(\.entries) where entry.rejection == nil {
                revision = revision.next
                let action = try ModelAction(decoding: entry.action)
                applied[revision] = action
                timesApplied[action, default: 0] += 1
            }
        }
    }
}
