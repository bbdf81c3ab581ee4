import Foundation
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading
import Testing

@testable import Statecast

/// Runs of a sender with one session file, from a seed. The processes close the file, or are killed in the middle of a
/// write, or lose the power; between the runs, the file is damaged.
///
/// The rules for each start:
/// - It finds the actions, numbers and outcomes that the file acknowledged, perhaps with a change whose write had not
///   returned; or the file is refused with a remedy, and stays unchanged. Without damage it is not refused.
/// - A number is sent for one action only, and each action of the input is applied once, whatever ended the runs.
///
/// What a session file cannot notice by its nature: that it is an older copy of itself. OPERATING.md warns of it. An
/// empty file, like a missing one, begins a new session.
@Suite(.timeLimit(.minutes(10))) struct `A session file with faults from a seed` {
    @Test(arguments: seeds(0..<50))
    func `A session file with faults from a seed loses no action, and none is applied twice`(seed: UInt64) throws {
        try SessionWorld(seed: seed).live()
    }

    /// A failure names the seed.
    @Test(arguments: (0..<3).map { _ in UInt64.random(in: .min ... .max) })
    func `A session file with faults from a seed loses no action from a fresh seed, either`(seed: UInt64) throws {
        try SessionWorld(seed: seed).live()
    }
}

/// One session file and its faults.
private final class SessionWorld {
    private static let runCount = 8
    private static let store = "meter"

    private let folder: TemporaryFolder
    private let path: String
    private var random: SplitMix64
    private let retention: SessionFile.OutcomeRetention
    private var peer = SessionPeer()
    /// What the next start finds.
    private var content = Data()
    /// Sessions that the next start may find: the last one that was acknowledged, or with a change in flight.
    private var expected: [SavedSession] = []
    /// The same if the file is damaged, too. After a power cut, the damage of the last record looks like an incomplete
    /// write.
    private var expectedDamaged: [SavedSession] = []
    /// What happened, for failures.
    private var events: [String] = []

    private var process: SenderProcess?

    init(seed: UInt64) throws {
        folder = try TemporaryFolder()
        path = folder.path + "/session"
        random = SplitMix64(seed: seed)
        retention = random.oneIn(2) ? .untilDelivered : .untilAcknowledged
    }

    private var story: Comment { "\(events.joined(separator: "; "))" }

    func live() throws {
        for _ in 0..<Self.runCount {
            if !content.isEmpty { for _ in 0..<3 { try checkDamaged() } }
            let process = try #require(try start(), story)
            try run(process)
            try end(process)
        }
        let process = try #require(try start(), story)
        try complete(process)
    }

    // MARK: Starts

    private func put(_ content: Data) throws {
        try? FileManager.default.removeItem(atPath: path)
        if !content.isEmpty { try content.write(to: URL(filePath: path)) }
    }

    private func open() throws(StatecastError) -> (file: SessionFile, saved: SavedSession) {
        let file = try SessionFile(at: path, store: Self.store, outcomes: retention)
        return (file, try file.claim(for: try StoreName(checking: SessionWorld.store)))
    }

    private func start() throws -> SenderProcess? {
        try put(content)
        let (file, saved) = try open()
        if !expected.isEmpty { #expect(expected.contains(saved), "found another session: \(story)") }
        events.append("started with \(saved.last.rawValue) actions, \(saved.outstandingCount) outstanding")
        return SenderProcess(file, saved, retention)
    }

    // MARK: Damage

    /// Opens a damaged copy: it is right or refused.
    private func checkDamaged() throws {
        var damaged = content
        let offset = random.below(random.oneIn(3) ? min(damaged.count, 400) : damaged.count)
        let kind = random.below(4)
        switch kind {
        case 0: damaged[offset] ^= 1 << UInt8(random.below(8))
        case 1: damaged = damaged.prefix(max(1, offset))
        case 2:
            let end = min(damaged.count, offset + 1 + random.below(600))
            damaged.replaceSubrange(offset..<end, with: Data(count: end - offset))
        default:
            let count = min(damaged.count - offset, 1 + random.below(40))
            damaged.replaceSubrange(offset..<(offset + count), with: (0..<count).map { _ in UInt8(random.below(256)) })
        }
        guard damaged != content else { return }
        try put(damaged)
        do throws(StatecastError) {
            let (file, saved) = try open()
            file.close()
            #expect(expectedDamaged.contains(saved), "damage \(kind) at \(offset) of \(content.count): \(story)")
        } catch {
            #expect(error.code == .session && error.message.contains(path), "\(error): \(story)")
            let remedies = ["another file", "use that version"]
            #expect(remedies.contains(where: error.message.contains), "\(error): \(story)")
            #expect(try Data(contentsOf: URL(filePath: path)) == damaged, "a refused file was changed: \(story)")
        }
    }

    // MARK: Runs

    private func run(_ process: SenderProcess) throws {
        for _ in 0..<random.below(random.oneIn(2) ? 10 : 30) {
            switch random.below(7) {
            case 0: process.submit(1 + random.below(5), using: &random)
            case 1: try process.save()
            case 2, 3: process.deliver(&peer, using: &random)
            case 4: if random.oneIn(2) { process.loseAnswer() } else { process.acknowledge() }
            case 5: process.push(to: &peer, using: &random)
            default: process.wait(&peer, using: &random)
            }
        }
        expected = [process.saved]
    }

    /// Lets the sender finish its input.
    private func complete(_ process: SenderProcess) throws {
        process.submit(3, using: &random)
        var turns = 0
        while !process.isDone, turns < 1000 {
            turns += 1
            try process.save()
            process.push(to: &peer, using: &random)
            process.deliver(&peer, using: &random)
            process.wait(&peer, using: &random)
        }
        #expect(process.isDone, "actions without an outcome: \(story)")
        #expect(peer.applied == process.serial, "\(peer.applied) of \(process.serial) actions are applied: \(story)")
    }

    // MARK: Ends

    private func end(_ process: SenderProcess) throws {
        let before = try bytes
        process.submit(random.below(3), using: &random)
        let isSaving = try !random.oneIn(3) && process.save(isReported: random.oneIn(2))
        process.push(to: &peer, using: &random)
        let after = try bytes
        let wasReported = process.isReported
        process.file.close()
        content = after
        expectedDamaged = [process.saved]
        guard isSaving, random.oneIn(2) else {
            events.append("ended")
            expected = [process.saved]
            return
        }
        expectedDamaged = [process.savedBefore, process.saved]
        guard !wasReported else {
            content = header(of: before, on: after)
            events.append("the power was cut")
            expected = [process.saved]
            return
        }
        expected = [process.savedBefore, process.saved]
        var torn = header(of: before, on: after)
        let count = before.count + random.below(after.count - before.count + 1)
        switch random.below(3) {
        case 0: torn = torn.prefix(count)
        case 1: torn = torn.prefix(count) + Data(count: after.count - count)
        default: break
        }
        content = torn
        events.append("killed in a write of \(after.count - before.count) bytes, after \(count - before.count)")
    }

    private var bytes: Data {
        get throws { try Data(contentsOf: URL(filePath: path)) }
    }

    /// The header is written after the records, and not synced.
    private func header(of old: Data, on new: Data) -> Data {
        old.prefix(SessionHeader.byteCount) + new.dropFirst(SessionHeader.byteCount)
    }
}

/// One process of a sender: the production code without sockets and threads. Its input is the actions 1, 2, 3 and so
/// on.
private final class SenderProcess {
    let file: SessionFile
    private let retention: SessionFile.OutcomeRetention
    private var machine: SenderMachine
    private var now = Instant.origin
    private(set) var serial: UInt64
    private var lastTicket: Ticket
    private var change = SessionChange()
    private var changeCount = 0
    private var answers: [(topic: Topic, frame: Frame)] = []
    private var requests: [Topic] = []
    private(set) var isReported = false
    /// What the file acknowledged.
    private(set) var saved: SavedSession
    /// The same before the last change.
    private(set) var savedBefore: SavedSession

    init(_ file: SessionFile, _ saved: SavedSession, _ retention: SessionFile.OutcomeRetention) {
        (self.file, self.retention) = (file, retention)
        (self.saved, savedBefore) = (saved, saved)
        machine = SenderMachine(resuming: saved, limits: Limits(), now: now)
        (serial, lastTicket) = (saved.mark.position, saved.last)
        var generator = SplitMix64(seed: serial)
        perform(machine.start(at: now, using: &generator))
    }

    var isDone: Bool { machine.pendingCount == 0 && change.isEmpty && saved.outstandingCount == 0 }

    func submit(_ count: Int, using random: inout SplitMix64) {
        guard count > 0 else { return }
        var chunk = ActionChunk(first: lastTicket.next)
        for _ in 0..<count {
            serial += 1
            lastTicket = lastTicket.next
            chunk.append(SessionPeer.action(serial), mark: InputMark(position: serial))
        }
        perform(machine.submitted(chunk))
        perform(machine.save())
    }

    /// Writes the changes.
    ///
    /// - Parameter isReported: whether the process lives long enough to see that they are written.
    /// - Returns: whether there were any.
    @discardableResult
    func save(isReported: Bool = true) throws -> Bool {
        perform(machine.save())
        guard !change.isEmpty else { return false }
        let next = change
        change = SessionChange()
        savedBefore = saved
        try file.save(next)
        try saved.apply(next)
        if retention == .untilDelivered { saved.dropResolved(after: next) }
        self.isReported = isReported
        if isReported { perform(machine.saved(changeCount)) }
        return true
    }

    func push(to peer: inout SessionPeer, using random: inout SplitMix64) {
        perform(machine.save())
        while let frame = machine.nextFrame {
            var writer = CBORWriter()
            writer.encoded(Address(saved.store, .actions).bytes)
            frame.write(to: &writer)
            answers += peer.received(writer.bytes)
            perform(machine.pushed(frame, at: now, using: &random))
        }
    }

    func deliver(_ peer: inout SessionPeer, using random: inout SplitMix64) {
        for topic in requests { answers += peer.subscribed(to: topic) }
        requests = []
        guard !answers.isEmpty else { return }
        let (topic, frame) = answers.removeFirst()
        perform(machine.received(frame, on: topic, at: now, using: &random))
    }

    /// Acknowledges the first outcomes in the file.
    func acknowledge() {
        let resolved = saved.actions.prefix { $0.outcome != nil }
        if let last = resolved.last { perform(machine.acknowledge(upTo: last.ticket)) }
    }

    func loseAnswer() { if !answers.isEmpty { answers.removeFirst() } }

    func wait(_ peer: inout SessionPeer, using random: inout SplitMix64) {
        now = machine.nextDeadline ?? now.advanced(by: .seconds(1))
        perform(machine.tick(at: now, using: &random))
    }

    private func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): requests.append(topic)
            case .connect(let endpoint):
                var generator = SplitMix64(seed: serial)
                perform(machine.connected(.success(endpoint), at: now, using: &generator))
            case .save(let next):
                change.merge(next)
                changeCount += 1
            case .resolve(let runs):
                for run in runs {
                    for offset in 0..<run.count {
                        let outcome = run.outcome(of: run.first.advanced(by: offset)).result
                        if case .failure(let rejection) = outcome { Issue.record("rejected: \(rejection)") }
                    }
                }
            case .fail(let cause), .close(let cause): Issue.record("the sender ended: \(cause)")
            default: break
            }
        }
    }
}

/// The sessions of a primary, which applies each number of a session once.
private struct SessionPeer {
    private static let lineage = Lineage(bits: 0x5EED)
    private static let opened = JournalSequence(1)

    /// The last number of each session.
    private var numbers: [SessionID: ActionNumber] = [:]
    /// The action of each number.
    private var actions: [SessionID: [ActionNumber: [UInt8]]] = [:]
    /// The number of applied actions, which come in the order of the input.
    private(set) var applied: UInt64 = 0

    /// The action with a serial number in the input.
    static func action(_ serial: UInt64) -> [UInt8] {
        Value.array([.text("entry"), ["serial": Value(serial), "text": Value.text(text(serial))]]).encoded
    }

    private static func text(_ serial: UInt64) -> String {
        String(repeating: "x", count: Int(serial * 37 % 200) * (serial.isMultiple(of: 11) ? 40 : 1))
    }

    func subscribed(to topic: Topic) -> [(Topic, Frame)] {
        guard case .receipts(let session) = topic else { return [] }
        let watermark = Watermark(
            lineage: Self.lineage,
            epoch: Epoch(1),
            number: numbers[session],
            opened: Self.opened,
            maxWindowActions: 40,
            maxActionBytes: 100_000,
            maxFrameBytes: 1 << 20,
            endpoint: "tcp://primary:1"
        )
        return [(topic, .watermark(watermark))] + receipts(session, from: ActionNumber(1))
    }

    private func receipts(_ session: SessionID, from first: ActionNumber) -> [(Topic, Frame)] {
        guard let last = numbers[session], last >= first else { return [] }
        var outcomes = OutcomeRuns(first: first)
        outcomes.append(.applied(Revision(first.rawValue)), count: last.distance(beyond: first) + 1)
        return [(.receipts(session), .receipts(Receipts(lineage: Self.lineage, epoch: Epoch(1), outcomes: outcomes)))]
    }

    mutating func received(_ message: [UInt8]) -> [(Topic, Frame)] {
        guard let frame = try? Message.decodeActions(message) else {
            Issue.record("a frame cannot be read")
            return []
        }
        let (session, first) = (frame.header.session, frame.header.first)
        let expected = numbers[session]?.next ?? frame.header.base
        guard first <= expected else {
            return [(.receipts(session), .expected(Expected(lineage: Self.lineage, number: expected)))]
        }
        for (index, action) in frame.contents.enumerated() {
            let number = first.advanced(by: index)
            let known = actions[session]?[number]
            if let known, known != action { Issue.record("\(number) is used for another action") }
            guard number >= numbers[session]?.next ?? expected else { continue }
            if action != Self.action(applied + 1) { Issue.record("\(number) is not the action \(applied + 1)") }
            applied += 1
            numbers[session] = number
            actions[session, default: [:]][number] = action
        }
        return receipts(session, from: first)
    }
}
