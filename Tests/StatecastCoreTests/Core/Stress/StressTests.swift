import Testing

@testable import StatecastCore

@Suite struct `Many threads at one core` {
    /// With the second value the drainer changes constantly.
    @Test(arguments: [256, 2])
    func `Many threads that dispatch, read, observe, cancel, scope and start effects lose and reorder nothing`(
        maxDrainedRequests: Int
    ) async throws {
        let (threads, each) = (8, 600)
        let ended = Recorder<Void>()
        let core = Core(
            Ledger(threads: threads),
            reducer: Ledger.reducer { ended.record(()) },
            now: { .epoch },
            maxDrainedRequests: maxDrainedRequests
        )
        let steady = Follower.ofAll()
        steady.follow(core)
        let tapped = Recorder<UInt64>()
        let tap = core.tap(.after) { tapped.record($0.revision) }
        let wentBack = Recorder<Int>()
        let followers = Recorder<Follower<Ledger>>()
        let counters = Recorder<Follower<Int>>()

        await onThreads(threads) { thread in
            var own: [Follower<Ledger>] = []
            var ownCounter: Follower<Int>?
            var read = Ledger(threads: threads)
            for number in 1...each {
                core.dispatch(Ledger.Numbered(thread: thread, number: number))
                let now = core.state
                if zip(read.newest, now.newest).contains(where: { $0 > $1 }) { wentBack.record(number) }
                read = now
                if number.isMultiple(of: 16) {
                    let follower = Follower.ofAll(quitsAfter: number.isMultiple(of: 64) ? 10 : nil)
                    followers.record(follower)
                    own.append(follower)
                    follower.follow(core)
                    if own.count > 2 { own.removeFirst().cancel() }
                }
                if number.isMultiple(of: 40) {
                    ownCounter?.cancel()
                    let counter = Follower.ofCount()
                    counters.record(counter)
                    ownCounter = counter
                    // Of another thread, so that the scope changes while that thread dispatches.
                    counter.follow(core.scope { $0.newest[(thread + 1) % threads] })
                }
                if number.isMultiple(of: 30) { core.scope(\.written).update { $0 += 1 } }
            }
        }
        // The first fence follows all actions, so all effects are started; the second one follows their results.
        try await core.send(Ledger.Fence())
        await ended.reaching(threads * Ledger.workCount(each))
        let revision = try await core.send(Ledger.Fence()).revision

        let ledger = core.state
        #expect(ledger.faults.isEmpty)
        #expect(ledger.newest == Array(repeating: each, count: threads))
        #expect(ledger.echoes == threads * Ledger.echoCount(each))
        #expect(ledger.written == threads * (each / 30))
        // The last work of each thread was not cancelled.
        #expect(ledger.ticked == ledger.restarted)
        let reduced = threads * each + ledger.echoes + ledger.ticks + 2
        #expect(revision == UInt64(reduced + ledger.written))

        #expect(wentBack.all.isEmpty)
        #expect(steady.faults.isEmpty)
        #expect(steady.revision == revision)
        #expect(steady.deliveredCount == Int(revision) + 1)
        #expect(tapped.all.count == reduced)
        #expect(tapped.all == tapped.all.sorted())
        #expect(followers.all.count == threads * (each / 16))
        #expect(followers.all.flatMap(\.faults).isEmpty)
        // Followers that were not cancelled have received at least the fences.
        #expect(followers.all.filter { $0.deliveredCount > 2 }.count >= threads * 2)
        #expect(counters.all.flatMap(\.faults).isEmpty)
        #expect(counters.all.filter { $0.deliveredCount > 0 }.count >= threads)
        tap.cancel()
        followers.all.forEach { $0.cancel() }
        counters.all.forEach { $0.cancel() }
        steady.cancel()
    }
}
