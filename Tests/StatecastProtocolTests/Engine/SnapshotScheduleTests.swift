import Testing

@testable import StatecastProtocol

@Suite struct `The schedule of snapshots` {
    @Test func `snapshots of a young journal come early, and then as the policy says`() {
        var policy = SnapshotPolicy(bytes: 32 << 20, records: 100_000)
        var schedule = SnapshotSchedule()
        var (taken, bytes) = ([] as [Int], 0)
        let step = SnapshotSchedule.firstBytes
        while bytes < 128 << 20 {
            schedule.count(step)
            bytes += step
            guard schedule.start(policy, stateBytes: 100, at: JournalSequence(UInt64(bytes))) else { continue }
            taken.append(bytes >> 20)
            schedule.finish(isStored: true)
        }
        #expect(taken == [1, 3, 7, 15, 31, 63, 95, 127])
        // Never more bytes of snapshots than of records.
        var large = SnapshotSchedule()
        large.count(step)
        let isLargeDue = large.start(policy, stateBytes: step + 1, at: JournalSequence(1))
        #expect(!isLargeDue)
        policy = SnapshotPolicy(bytes: 10, records: 100_000)
        var eager = SnapshotSchedule()
        eager.count(10)
        let isEagerDue = eager.start(policy, stateBytes: 1, at: JournalSequence(1))
        #expect(isEagerDue)
    }

    @Test func `a snapshot that could not be stored is stored at the stop`() {
        var schedule = SnapshotSchedule(after: JournalSequence(5))
        schedule.isWanted = true
        let isDue = schedule.start(
            SnapshotPolicy(bytes: 32 << 20, records: 100_000),
            stateBytes: 1,
            at: JournalSequence(9)
        )
        #expect(isDue)
        #expect(schedule.covered == JournalSequence(9))
        schedule.finish(isStored: false)
        #expect(schedule.covered == JournalSequence(5))
    }
}
