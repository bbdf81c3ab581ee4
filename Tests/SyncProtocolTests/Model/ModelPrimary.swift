import StateCoding
import StateCore
import SyncProtocol

/// An action of the model: its sender, and its serial number there.
struct ModelAction: Hashable, CustomStringConvertible {
    let sender: Int
    let serial: Int

    /// Every seventh is refused by policy.
    var isRefused: Bool { serial % 7 == 3 }
    var bytes: [UInt8] { Value.array([Value(sender), Value(serial)]).encoded }
    var description: String { "action \(serial) of sender \(sender)" }

    init(sender: Int, serial: Int) {
        self.sender = sender
        self.serial = serial
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = CBORReader(bytes)
        guard try reader.arrayCount() == 2 else { throw CodingFailure(.malformed, "an action has two elements") }
        self.init(sender: Int(try reader.integer()), serial: Int(try reader.integer()))
    }
}

/// A primary whose state counts the applied actions of each sender. Its journal and its encoder are slow.
struct ModelPrimary {
    private(set) var machine: PrimaryMachine
    /// The action that made each revision.
    private(set) var applied: [Revision: ModelAction] = [:]
    /// The digest that the state had at each revision that was published.
    private(set) var digests: [Revision: UInt64] = [Revision(0): digest(of: .map([:]))]

    private var state = Value.map([:])
    private var published = Value.map([:])
    private var durable = Value.map([:])
    private var batch: [(session: SessionID, number: ActionNumber, action: ModelAction)] = []
    private var records: [(record: Record, state: Value)] = []
    private var snapshots: [(bytes: [UInt8], revision: Revision, digest: UInt64)] = []

    init(_ machine: PrimaryMachine) { self.machine = machine }

    /// The size is large enough that missed updates are always worth sending.
    static func summary(of state: Value) -> Summary { Summary(digest: digest(of: state), bytes: 1 << 20) }

    static func digest(of state: Value) -> UInt64 {
        state.encoded.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    var isQuiet: Bool { records.isEmpty && snapshots.isEmpty && batch.isEmpty && !machine.hasRequests }
    var digest: UInt64 { Self.digest(of: durable) }

    mutating func requested(_ topic: Topic, begins: Bool) -> [PrimaryDirective] {
        begins ? machine.subscribed(to: topic) : machine.unsubscribed(from: topic)
    }

    mutating func received(_ frame: ActionsFrame) throws -> [PrimaryDirective] {
        let (admitted, directives) = machine.admit(frame)
        guard let admitted else { return directives }
        var number = admitted.first
        for bytes in admitted.actions {
            batch.append((admitted.session, number, try ModelAction(decoding: bytes)))
            resolve(batch[batch.count - 1])
            number = number.next
        }
        actItself()
        return directives
    }

    /// The primary's own process answers with an action of its own, if there is room.
    private mutating func actItself() {
        guard machine.ownRoom > 0 else { return }
        let number = machine.ownNumber
        batch.append((.primary, number, ModelAction(sender: Self.itself, serial: Int(number.rawValue))))
        resolve(batch[batch.count - 1])
    }

    /// The index of the primary's own process among the senders.
    static let itself = -1

    private mutating func resolve(_ entry: (session: SessionID, number: ActionNumber, action: ModelAction)) {
        let isRefused = entry.action.isRefused
        if !isRefused, case .map(var counts) = state {
            let key = Value.text("sender \(entry.action.sender)")
            if case .unsigned(let count)? = counts[key] {
                counts[key] = .unsigned(count + 1)
            } else {
                counts[key] = .unsigned(1)
            }
            state = .map(counts)
        }
        let verdict: Verdict = isRefused ? .rejected(Rejection(.refused, "every seventh")) : .applied
        if case .applied(let revision) = machine.resolved(entry.session, entry.number, verdict) {
            applied[revision] = entry.action
        }
    }

    /// Ends a turn. With `reopens`, rolls the batch back and resolves it again action by action.
    mutating func endTurn(reopens: Bool, at now: Instant) -> [PrimaryDirective] {
        if reopens, !batch.isEmpty {
            machine.rollBackBatch()
            state = published
            for entry in batch {
                resolve(entry)
                close()
            }
        } else {
            close()
        }
        batch = []
        return machine.hasRequests ? perform(machine.serve(at: now, time: Fixture.time)) : []
    }

    private mutating func close() {
        let patch = Patch(from: published, to: state).encode()
        for case .commit(let record) in machine.close(patch: patch, summary: Self.summary(of: state)) {
            records.append((record, state))
        }
        published = state
    }

    /// Some of the records become durable.
    mutating func commit(_ count: Int, at now: Instant) -> [PrimaryDirective] {
        guard let last = records.prefix(count).last else { return [] }
        for (record, state) in records.prefix(count) {
            guard let update = record.update else { continue }
            durable = state
            digests[update.to] = record.summary.digest
        }
        records.removeFirst(min(count, records.count))
        return machine.committed(through: last.record.sequence, at: now)
    }

    /// A snapshot is encoded.
    mutating func finishSnapshot(at now: Instant) {
        guard !snapshots.isEmpty else { return }
        let (bytes, revision, digest) = snapshots.removeFirst()
        machine.snapshotEncoded(bytes, revision: revision, digest: digest, at: now)
    }

    mutating func tick(at now: Instant) -> [PrimaryDirective] { machine.tick(at: now, time: Fixture.time) }

    private mutating func perform(_ directives: [PrimaryDirective]) -> [PrimaryDirective] {
        for case .encodeSnapshot in directives { snapshots.append((durable.encoded, machine.head, digest)) }
        return directives
    }
}
