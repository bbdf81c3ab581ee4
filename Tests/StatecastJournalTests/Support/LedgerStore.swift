import Foundation
import Logging
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

@testable import Statecast
@testable import StatecastSQLite

/// A state that shows which actions led to it.
struct Ledger: Codable, Equatable, Sendable {
    /// The number of applied actions, which is the revision.
    private(set) var count: UInt64 = 0
    /// A digest of the applied actions and their order.
    private(set) var chain: UInt64 = 0
    /// The last applied action of each origin.
    private var serials: [String: UInt64] = [:]
    /// The first action that was applied twice, or out of order.
    private(set) var repeated: String?
    /// Content of various sizes.
    private var texts: [String: String] = [:]

    struct Fingerprint: Hashable, Sendable {
        let count: UInt64
        let chain: UInt64
    }

    var fingerprint: Fingerprint { Fingerprint(count: count, chain: chain) }

    mutating func apply(_ entry: Entry) {
        count += 1
        var mixed = SplitMix64(seed: chain ^ entry.bits &+ entry.serial)
        chain = mixed.next()
        if serials[entry.origin, default: 0] >= entry.serial { repeated = repeated ?? "\(entry)" }
        serials[entry.origin] = entry.serial
        let byteCount = Int(mixed.next() % (entry.bits.isMultiple(of: 7) ? 20_000 : 300))
        texts["\(mixed.next() % 6)"] = String(repeating: "t", count: byteCount)
    }
}

struct Entry: Action, Hashable, CustomStringConvertible {
    static let name = "entry"

    let origin: String
    let serial: UInt64
    let bits: UInt64

    var isRefused: Bool { bits.isMultiple(of: 5) }
    var description: String { "\(origin).\(serial)" }
    var encoded: [UInt8] {
        get throws { Value.array([.text(Self.name), try StateEncoder().value(of: self)]).encoded }
    }
}

/// All states that a ledger has had, whether they were published or not.
typealias ReducedLedgers = Locked<Set<Ledger.Fingerprint>>

/// One process that serves a ledger from a journal, with the production code of a primary's store. Nothing runs
/// concurrently: the test decides when a turn is taken, and when the journal works.
final class LedgerProcess {
    static let store = "ledger"

    private let environment: QueuedEnvironment
    private let mailbox: LocalMailbox<Ledger>
    private var hosted: HostedStores?
    private let output = Output()
    /// What was recovered.
    let start: Position
    let state: Ledger

    /// Unchecked, but safe: one thread uses it.
    private final class Output: @unchecked Sendable {
        var messages: [[UInt8]] = []
        var failure: StatecastError?
        /// The number of messages at a moment.
        var momentCount: Int?
    }

    /// Recovers the store.
    init(
        _ journal: SQLiteJournal,
        _ environment: QueuedEnvironment,
        policy: JournalPolicy,
        lineage: Lineage,
        _ reduced: ReducedLedgers
    ) throws(StatecastError) {
        self.environment = environment
        let definition = try TypedStore(
            name: Self.store,
            state: Ledger(),
            actions: [Entry.self],
            reducer: Reducer(of: Entry.self) { state, entry in
                state.apply(entry)
                let fingerprint = state.fingerprint
                reduced.withLock { _ = $0.insert(fingerprint) }
                return .none
            },
            middleware: [
                .policy { action, _ in
                    if let entry = action as? Entry, entry.isRefused { throw Rejection(.refused, "\(entry)") }
                }
            ],
            initialEffect: { _ in .none },
            journal: journal,
            evolution: StateEvolution(),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        mailbox = definition.mailbox
        let recovered = try definition.recover(limits: Limits(), time: environment.time, lineage: lineage)
        guard let typed = recovered as? RecoveredStore<Ledger> else { preconditionFailure("recovered another type") }
        let history = typed.history
        start = Position(lineage: history.lineage, epoch: history.epoch, revision: history.head)
        state = typed.state
        let services = NodeServices(
            limits: Limits(),
            actionsEndpoint: "tcp://primary:1",
            environment: environment,
            journalPolicy: policy,
            publish: { [output] _, message in output.messages.append(message) },
            fail: { [output] in output.failure = output.failure ?? $0 },
            wake: {}
        )
        hosted = HostedStores([recovered], on: services) { _ in }
        hosted?.begin()
    }

    /// Why the process ended.
    var failure: StatecastError? { output.failure }

    var isDamaged: Bool { (failure?.cause as? JournalFailure)?.code == .damaged }

    /// The last published revision.
    var head: Revision? { (try? StoreName(Self.store)).flatMap { hosted?.position(of: $0)?.revision } }

    func dispatch(_ entry: Entry) { mailbox.dispatch(entry) }

    func subscribe(to session: SessionID) throws {
        hosted?.subscribed(to: .receipts(session), of: try StoreName(Self.store), from: nil)
    }

    func push(_ frame: ActionsFrame, _ secret: SessionSecret) throws {
        hosted?.receivedActions(Message.encode(frame, secret, to: Address(try StoreName(Self.store), .actions).bytes)) {
            _ in nil
        }
    }

    /// Takes turns, and lets the journal work after each, until nothing is left to do.
    func work(isTicking: Bool = true) {
        if isTicking {
            environment.advance(by: .seconds(11))
            hosted?.tick()
        }
        repeat {
            _ = hosted?.turn()
        } while environment.runJobs() && failure == nil
    }

    /// Lets ``published()`` return nothing that is published later.
    var noteMoment: @Sendable () -> Void {
        { [output] in output.momentCount = output.messages.count }
    }

    /// The frames that were published since the last call.
    func published() throws -> [(topic: Topic, frame: Frame)] {
        defer { output.messages = [] }
        return try output.messages.prefix(output.momentCount ?? .max).map { message in
            let (address, frame) = try Message.decode(message)
            return (address.topic, frame)
        }
    }

    /// Stops as an operator does.
    func stop() {
        hosted?.finish()
        hosted?.end()
        hosted = nil
    }

    /// Releases the store. The journal must not be in its place any more.
    func abandon() { hosted = nil }
}

/// Runs jobs when the test says so.
///
/// Unchecked, but safe: one thread uses it.
final class QueuedEnvironment: StoreEnvironment, @unchecked Sendable {
    private(set) var now = Instant.origin
    private var jobs: [(due: Instant, work: @Sendable () -> Void)] = []
    let effectExecutor: (any TaskExecutor)? = nil

    var time: Timestamp { Timestamp(milliseconds: 1_700_000_000_000 + Int64(now.offset / .milliseconds(1))) }

    func advance(by duration: Duration) { now = now.advanced(by: duration) }

    func randomBits() -> UInt64 { .random(in: .min ... .max) }

    func makeQueue(_ label: String, _ priority: WorkPriority) -> any WorkQueue { Queue(environment: self) }

    func startInBackground(_ work: @escaping @Sendable () -> Void) { jobs.append((now, work)) }

    /// Runs the jobs that are due, and those that they add.
    ///
    /// - Returns: whether there were any.
    func runJobs() -> Bool {
        var hasRun = false
        while let index = jobs.firstIndex(where: { $0.due <= now }) {
            jobs.remove(at: index).work()
            hasRun = true
        }
        return hasRun
    }

    private struct Queue: WorkQueue {
        let environment: QueuedEnvironment

        func async(_ job: @escaping @Sendable () -> Void) { environment.jobs.append((environment.now, job)) }

        func async(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
            environment.jobs.append((environment.now.advanced(by: delay), job))
        }

        func sync(_ job: @Sendable () -> Void) {
            _ = environment.runJobs()
            job()
        }
    }
}
