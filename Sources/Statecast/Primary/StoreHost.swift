internal import Logging

/// One store on its node: the typed state, its reducer, and the machine that decides.
final class StoreHost<State: Codable & Equatable & Sendable>: HostedStore {
    private var machine: PrimaryMachine
    private let registry: ActionRegistry
    private let reducer: Reducer<State>
    private let surroundings: StoreSurroundings
    private let metrics: PrimaryMetrics
    private let logger: Logger

    /// With all actions reduced.
    private var state: State
    /// At the head: what replicas have, and what patches start from.
    private var published: State
    private var summary: Summary
    /// What was reduced since, in case it has to be reduced again one by one.
    private var batch: [Batched] = []
    /// What became of it, to be counted once it is settled.
    private var outcomes: [Outcome] = []

    private struct Batched {
        let session: SessionID
        let number: ActionNumber
        let bytes: [UInt8]
        let context: ActionContext
    }

    init(
        _ definition: TypedStore<State>,
        in surroundings: StoreSurroundings
    ) {
        let clock = surroundings.clock
        machine = PrimaryMachine(
            store: definition.name,
            lineage: surroundings.lineage,
            epoch: surroundings.epoch,
            summary: definition.summary,
            fingerprint: definition.fingerprint,
            actions: definition.registry.entries,
            actionsEndpoint: surroundings.actionsEndpoint,
            limits: surroundings.limits,
            now: clock.now
        )
        registry = definition.registry
        reducer = definition.reducer
        metrics = PrimaryMetrics(store: definition.name)
        logger = definition.logger
        state = definition.state
        published = definition.state
        summary = definition.summary
        self.surroundings = surroundings
    }

    var name: StoreName { machine.store }
    var head: Revision { machine.head }
    var position: Position { Position(lineage: machine.lineage, epoch: machine.epoch, revision: machine.head) }
    var nextDeadline: Instant { machine.nextDeadline }
    var hasRequests: Bool { machine.hasRequests }

    // MARK: Events

    func subscribed(to topic: Topic) { perform(machine.subscribed(to: topic)) }

    func unsubscribed(from topic: Topic) { perform(machine.unsubscribed(from: topic)) }

    func received(_ frame: ActionsFrame) {
        let (admitted, directives) = machine.admit(frame)
        perform(directives)
        guard let admitted else { return }
        let context = ActionContext(time: surroundings.clock.time, session: admitted.session.description)
        var number = admitted.first
        for bytes in admitted.actions {
            let action = Batched(session: admitted.session, number: number, bytes: bytes, context: context)
            batch.append(action)
            outcomes.append(machine.resolved(action.session, action.number, reduce(action)))
            number = number.next
        }
    }

    func endTurn() {
        if machine.hasOpenBatch {
            do { try close() } catch { closeOneByOne() }
            batch.removeAll(keepingCapacity: true)
        }
        if machine.hasRequests {
            perform(machine.serve(at: surroundings.clock.now, time: surroundings.clock.time))
        }
        metrics.waiting(joins: machine.joinsWaitingCount)
    }

    func tick() { perform(machine.tick(at: surroundings.clock.now, time: surroundings.clock.time)) }

    func snapshotEncoded(_ snapshot: EncodedSnapshot) {
        switch snapshot.bytes {
        case .success(let bytes):
            machine.snapshotEncoded(
                bytes,
                revision: snapshot.revision,
                digest: snapshot.digest,
                at: surroundings.clock.now
            )
        case .failure(let failure):
            // Every change was encoded before, so only a type that encodes differently by itself gets here.
            logger.critical("the state cannot be encoded for joining replicas", metadata: ["error": "\(failure)"])
            perform(machine.snapshotFailed(Rejection(.unencodable, "the state cannot be encoded: \(failure)")))
        }
    }

    // MARK: Reducing

    private func reduce(_ action: Batched) -> Verdict {
        if let rejection = machine.rejection(ofBytes: action.bytes.count) { return .rejected(rejection) }
        do {
            reducer.reduce(into: &state, try registry.decode(action.bytes), context: action.context)
            return .applied
        } catch {
            return .rejected(error)
        }
    }

    /// One patch, one record for all that this turn reduced.
    private func close() throws {
        let difference = try difference()
        summary = difference.summary
        batchClosed(difference.patch)
    }

    private func difference() throws -> (patch: [UInt8], summary: Summary) {
        let difference = try Differ.patch(from: published, to: state)
        let patch = difference.patch.encode()
        let bytesMax = surroundings.limits.frameBytesMax - Limits.topicBytesMax - 64
        guard patch.count <= bytesMax else {
            throw Rejection(
                .tooLarge,
                "the change has \(patch.count) bytes, an update at most \(bytesMax): make it in several actions"
            )
        }
        var summary = summary
        summary.advance(by: difference)
        let stateBytesMax = surroundings.limits.snapshotBytesMax
        guard summary.bytes <= max(stateBytesMax, self.summary.bytes) else {
            throw Rejection(
                .tooLarge,
                "the state would have \(summary.bytes) bytes, more than the \(stateBytesMax) that a replica takes"
            )
        }
        return (patch, summary)
    }

    private func batchClosed(_ patch: [UInt8]) {
        let directives = machine.close(patch: patch, summary: summary)
        published = state
        perform(directives)
    }

    /// The batch as a whole could not be encoded, or is too large for a frame: reduce its actions again, each for
    /// itself, and reject those that are the cause.
    private func closeOneByOne() {
        machine.reopenBatch()
        outcomes.removeAll(keepingCapacity: true)
        state = published
        for action in batch {
            var verdict = reduce(action)
            var patch: [UInt8] = []
            if verdict == .applied {
                do {
                    let difference = try difference()
                    patch = difference.patch
                    summary = difference.summary
                } catch let rejection as Rejection {
                    verdict = .rejected(rejection)
                } catch {
                    verdict = .rejected(Rejection(.unencodable, "the state cannot be published after it: \(error)"))
                }
            }
            if verdict != .applied { state = published }
            outcomes.append(machine.resolved(action.session, action.number, verdict))
            batchClosed(patch)
        }
    }

    // MARK: Directives

    private func perform(_ directives: [PrimaryDirective]) {
        for directive in directives {
            switch directive {
            case .publish(let topic, let frame): surroundings.publish(name, topic, frame)
            case .encodeSnapshot: encodeSnapshot()
            case .commit(let record): committed(record)
            case .count(let event): metrics.count(event)
            }
        }
    }

    /// Without a journal a record is as durable as it gets once it is made.
    private func committed(_ record: Record) {
        metrics.closed(record)
        for outcome in outcomes { self.record(outcome) }
        outcomes.removeAll(keepingCapacity: true)
        perform(machine.committed(through: record.sequence, at: surroundings.clock.now))
    }

    private func encodeSnapshot() {
        let (state, revision, digest) = (published, machine.head, summary.digest)
        surroundings.encode(name) {
            let bytes = Result { () throws(CodingFailure) in try StateEncoder().encode(state) }
            return EncodedSnapshot(revision: revision, digest: digest, bytes: bytes)
        }
    }

    private func record(_ outcome: Outcome) {
        switch outcome {
        case .applied: metrics.count(.applied(1))
        case .rejected(let rejection):
            metrics.count(.rejected(rejection.code))
            logger.debug("action rejected", metadata: ["store": "\(name)", "reason": "\(rejection)"])
        }
    }
}
