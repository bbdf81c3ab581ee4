import DequeModule
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// What a database holds of one store.
struct StoredContent {
    var row: LeaderRow
    /// The timeline of the server that accepted the last claim.
    var timeline: UInt64
    /// The process whose connection has changed the row last.
    var process: Process?
    var image: JournalImage
}

/// A server of a simulated database, with the one that stands by for it.
///
/// As PostgreSQL does, it writes a transaction to its log, and waits until the other server has it; until then the
/// transaction holds its locks, and its changes are not seen. If the wait ends in another way, the transaction is
/// committed on this server alone.
///
/// Unchecked, but safe: see ``World``.
final class DatabaseServer: @unchecked Sendable {
    typealias Content = [StoreName: StoredContent]

    private final class Transaction {
        let after: Content
        let answer: (StatementAnswer) -> Void
        let rows: Int
        /// Whether it holds its locks, and its changes are not seen.
        var isWaiting = true
        /// Whether it was acknowledged without the other server.
        var isUnsafe = false

        init(_ after: Content, rows: Int, _ answer: @escaping (StatementAnswer) -> Void) {
            (self.after, self.rows, self.answer) = (after, rows, answer)
        }
    }

    private struct Request {
        let id: Int
        let stores: [StoreName]
        let change: (inout Content) -> Int
        let answer: (StatementAnswer) -> Void
    }

    private let world: World
    private var random: SplitMix64
    let timeline: UInt64
    /// What is committed, which sessions read.
    private(set) var visible: Content
    /// The same, with the transactions that wait for the other server.
    private(set) var written: Content
    /// What the other server has; `nil`: there is none yet.
    private(set) var copy: Content?
    /// What the other server lacks, in the order of the log.
    private var log: Deque<Transaction> = []
    private var blocked: [Request] = []
    private var requestCount = 0
    private(set) var isUp = true
    /// Whether commits wait for the other server (`synchronous_standby_names` is not empty).
    private(set) var isSynchronous = true
    /// Until then, nothing arrives at the other server.
    private var stuckUntil = Instant.origin
    var fullUntil = Instant.origin
    /// Called with what a transaction has written, before and after.
    var onWrite: (_ before: StoredContent, _ after: StoredContent) -> Void = { _, _ in }

    /// - Parameter hasCopy: whether another server stands by.
    init(_ world: World, timeline: UInt64, _ content: Content, hasCopy: Bool) {
        (self.world, self.timeline, visible, written) = (world, timeline, content, content)
        copy = hasCopy ? content : nil
        random = world.random.split()
    }

    // MARK: Transactions

    /// Changes the content of some stores in a transaction, once their locks are free.
    ///
    /// - Parameter change: returns the number of rows that it has written.
    func write(
        _ stores: [StoreName],
        _ change: @escaping (inout Content) -> Int,
        answer: @escaping (StatementAnswer) -> Void
    ) {
        guard isUp else { return answer(.lost) }
        requestCount += 1
        let request = Request(id: requestCount, stores: stores, change: change, answer: answer)
        guard execute(request) else {
            blocked.append(request)
            return world.schedule(after: .seconds(1)) { [self] in
                guard let index = blocked.firstIndex(where: { $0.id == request.id }) else { return }
                blocked.remove(at: index)
                answer(.failed(state: "55P03", "lock timeout"))
            }
        }
    }

    private func isLocked(_ store: StoreName) -> Bool { log.contains { $0.isWaiting && $0.after[store] != nil } }

    /// - Returns: whether the locks were free.
    private func execute(_ request: Request) -> Bool {
        guard !request.stores.contains(where: isLocked) else { return false }
        var after = visible.filter { request.stores.contains($0.key) }
        let rows = request.change(&after)
        guard rows > 0 else {
            request.answer(.done(rows: 0))
            return true
        }
        guard world.now >= fullUntil else {
            world.count(.databaseFull)
            request.answer(.failed(state: "53100", "no room"))
            return true
        }
        let transaction = Transaction(after, rows: rows, request.answer)
        log.append(transaction)
        for store in request.stores {
            guard let before = written[store], let changed = after[store] else { continue }
            written[store] = changed
            onWrite(before, changed)
        }
        if !isSynchronous { finishAlone(transaction) }
        let delay = random.oneIn(100) ? random.duration(.milliseconds(1) ... .seconds(2)) : .microseconds(200)
        world.schedule(after: delay + .microseconds(random.below(500))) { [self] in
            replicate(through: transaction)
        }
        return true
    }

    /// Its changes are seen, and its locks are free.
    private func finish(_ transaction: Transaction, _ answer: StatementAnswer) {
        transaction.isWaiting = false
        visible.merge(transaction.after) { $1 }
        transaction.answer(answer)
        unblock()
    }

    /// It is acknowledged without the other server.
    private func finishAlone(_ transaction: Transaction) {
        transaction.isUnsafe = true
        finish(transaction, .done(rows: transaction.rows))
    }

    private func unblock() {
        let requests = blocked
        blocked = []
        blocked += requests.filter { !execute($0) }
    }

    // MARK: The other server

    private func replicate(through last: Transaction) {
        guard isUp, copy != nil, log.contains(where: { $0 === last }) else { return }
        if world.now < stuckUntil {
            return world.schedule(at: stuckUntil) { [self] in replicate(through: last) }
        }
        while let transaction = log.popFirst() {
            copy?.merge(transaction.after) { $1 }
            if transaction.isWaiting { finish(transaction, .done(rows: transaction.rows)) }
            if transaction === last { break }
        }
    }

    /// The other server has now what is written, if it can be reached.
    func flush() { if world.now >= stuckUntil { replicateAll() } }

    private func replicateAll() { if let last = log.last { replicate(through: last) } }

    /// Nothing arrives at the other server for a time.
    func hold(until time: Instant) { stuckUntil = max(stuckUntil, time) }

    /// Another server stands by from now on.
    func attachCopy() {
        guard isUp, copy == nil else { return }
        copy = visible
        log.removeAll { !$0.isWaiting }
        replicateAll()
    }

    // MARK: What can go wrong

    /// An operator lets the server wait for the other one, or not. Without, those that wait end as a success.
    func setSynchronous(_ isSynchronous: Bool) {
        self.isSynchronous = isSynchronous
        guard !isSynchronous else { return }
        for transaction in log where transaction.isWaiting { finishAlone(transaction) }
    }

    /// An operator ends the wait of a transaction.
    ///
    /// - Returns: whether one was waiting.
    func cancelOne() -> Bool {
        guard let transaction = log.first(where: \.isWaiting) else { return false }
        finish(transaction, .done(rows: transaction.rows, warning: "the wait was canceled"))
        return true
    }

    /// All sessions are lost; what was written is committed.
    func restart(after pause: Duration) {
        guard isUp else { return }
        goDown()
        world.schedule(after: pause) { [self] in
            isUp = true
            replicateAll()
        }
    }

    func goDown() {
        isUp = false
        for request in blocked { request.answer(.lost) }
        blocked = []
        for transaction in log where transaction.isWaiting { finish(transaction, .lost) }
    }

    /// What the other server has, if nothing was acknowledged without it.
    var durable: Content { log.contains(where: \.isUnsafe) ? visible : copy ?? visible }

    /// Whether the other server has all that was acknowledged, and knows it: otherwise an operator must not let it take
    /// the place of this one.
    var isReplaceable: Bool {
        guard let copy else { return false }
        return copy.values.allSatisfy(\.row.isSynchronous) && !log.contains(where: \.isUnsafe)
    }

    /// The content of the other server as it takes the place of this one, with some of what is on its way.
    func takeCopy() -> Content {
        guard var content = copy else { return visible }
        for transaction in log.prefix(random.below(log.count + 1)) { content.merge(transaction.after) { $1 } }
        copy = nil
        return content
    }

    /// Ends all faults.
    func heal() {
        (stuckUntil, fullUntil, isSynchronous) = (.origin, .origin, true)
        replicateAll()
    }
}

extension StatementAnswer {
    static let lost = Self.failed(state: nil, "the connection is lost")
}
