import StatecastCore
import StatecastProtocol
import Testing

/// When a node claims, serves, is silent and ends.
@Suite struct LeaderMachineTests {
    // MARK: Standby

    @Test func `A standby looks at once, and again after each answer`() {
        let node = TestNode()
        #expect(node.tick(at: 0) == [.observe])
        #expect(node.tick(at: 1).isEmpty)
        _ = node.observed(.led, at: 1)
        #expect(node.tick(at: 1.05).isEmpty)
        #expect(node.tick(at: 1.1) == [.observe])
    }

    @Test func `A standby claims when the row is unchanged for the lease time`() {
        let node = TestNode()
        #expect(!node.observed(.led, at: 1).hasClaim)
        #expect(!node.observed(.led, at: 3.9).hasClaim)
        #expect(node.observed(.led, at: 4).hasClaim)
        #expect(node.machine.phase == .campaigning)
    }

    @Test(arguments: [
        LeaderRow.led(beat: 2), .led(head: 8), .led(term: 5),
    ])
    func `A new beat, record or term of the leader defers the claim`(row: LeaderRow) {
        let node = TestNode()
        _ = node.observed(.led, at: 1)
        #expect(!node.observed(row, at: 3.9).hasClaim)
        #expect(!node.observed(row, at: 6.8).hasClaim)
        #expect(node.observed(row, at: 6.9).hasClaim)
    }

    @Test func `A row that could not be read counts as unchanged`() {
        let node = TestNode()
        _ = node.observed(.led, at: 1)
        #expect(node.observed(nil, at: 2) == [.report(.unreachable(reason: "test"))])
        #expect(node.observed(.led, at: 4).hasClaim)
    }

    @Test func `A resigned store is claimed at once by its heir, and by others after half a second`() {
        let (heir, other, anyone) = (TestNode(), TestNode(), TestNode())
        #expect(heir.observed(.resigned(heir: heir.identity), at: 1).hasClaim)
        #expect(!other.observed(.resigned(heir: heir.identity), at: 1).hasClaim)
        #expect(other.observed(.resigned(heir: heir.identity), at: 1.5).hasClaim)
        #expect(anyone.observed(.resigned(heir: nil), at: 1).hasClaim)
    }

    @Test func `A claim with an unknown outcome that took effect is repeated at once`() {
        let node = TestNode()
        _ = node.observed(.led, at: 1)
        let claim = node.observed(.led, at: 4).claim
        #expect(node.claimed(at: nil, now: 4.1).isEmpty)
        #expect(node.machine.phase == .standby)
        var row = LeaderRow.led(term: 4)
        row.holder = claim?.holder
        let second = node.observed(row, at: 4.2).claim
        #expect(second != nil && second?.holder != claim?.holder)
    }

    @Test func `A node without a complete copy does not claim`() {
        let (reading, outdated) = (TestNode(), TestNode())
        for time in [1.0, 10.0] {
            #expect(!reading.observed(.led, copy: .incomplete, at: time).hasClaim)
            #expect(!outdated.observed(.led, copy: .outdated, at: time).hasClaim)
        }
    }

    @Test func `After a promotion, only a store whose commits waited for the other server is claimed`() {
        var row = LeaderRow.led
        row.isSameTimeline = false
        let (safe, unsafe) = (TestNode(), TestNode())
        _ = safe.observed(row, at: 1)
        #expect(safe.observed(row, at: 4).hasClaim)
        row.isSynchronous = false
        #expect(unsafe.observed(row, at: 1) == [.report(.lostTail)])
        #expect(!unsafe.observed(row, at: 4).hasClaim)
    }

    // MARK: Takeover

    @Test func `A confirmed claim is followed by the recovery, and that by the lead`() {
        let node = TestNode()
        _ = node.observed(.led, at: 1)
        _ = node.observed(.led, at: 4)
        #expect(node.claimed(at: 4, now: 4.1) == [.recover])
        #expect(node.recovered(at: 4.2).last == .lead)
        #expect(node.mayServe(at: 4.2))
    }

    @Test func `A recovery that takes longer than the lease ends the node`() {
        let node = TestNode()
        _ = node.observed(.led, at: 1)
        _ = node.observed(.led, at: 4)
        _ = node.claimed(at: 4, now: 4.1)
        #expect(node.recovered(at: 6.5).isEnd)
        #expect(!node.mayServe(at: 6.5))
    }

    // MARK: Leading

    @Test func `A leader renews at once, and then each third of the lease, also while it commits`() {
        let node = TestNode.leading(at: 10)
        #expect(node.tick(at: 10) == [.renew])
        node.confirmed(sent: 10.5, at: 10.6)
        #expect(node.tick(at: 10.9).isEmpty)
        #expect(node.tick(at: 11) == [.renew])
    }

    @Test func `A leader without a confirmed commit is muted half a second before its lease ends`() {
        let node = TestNode.leading(at: 10)
        #expect(node.mayServe(at: 12.49))
        #expect(!node.mayServe(at: 12.5))
        #expect(node.machine.phase == .muted)
    }

    @Test func `A muted leader serves again after a commit that was sent recently`() {
        let node = TestNode.leading(at: 10)
        #expect(!node.mayServe(at: 13))
        node.confirmed(sent: 10.5, at: 13.1)
        #expect(!node.mayServe(at: 13.1))
        node.confirmed(sent: 12.9, at: 13.2)
        #expect(node.mayServe(at: 13.2))
    }

    @Test func `A suspended leader is muted before it does anything`() {
        let node = TestNode.leading(at: 10)
        #expect(!node.mayServe(at: 1000))
    }

    @Test func `A leader that stays muted for ten seconds ends`() {
        let node = TestNode.leading(at: 10)
        #expect(!node.tick(at: 22.4).isEnd)
        #expect(node.tick(at: 22.5).isEnd)
    }

    @Test func `A fenced leader ends, and does nothing more`() {
        let node = TestNode.leading(at: 10)
        #expect(node.failed("fenced") == [.end(reason: "fenced")])
        #expect(node.failed("again").isEmpty)
        #expect(node.tick(at: 11).isEmpty)
        node.confirmed(sent: 11, at: 11)
        #expect(!node.mayServe(at: 11))
    }
}

/// A machine with the lease time of 3 seconds, whose times are in seconds.
private final class TestNode {
    let identity: NodeID
    var machine: LeaderMachine
    private var generator = SystemRandomNumberGenerator()

    init() {
        identity = NodeID(using: &generator)
        let settings = LeaderSettings(leaseTime: .seconds(3))
        machine = LeaderMachine(settings, identity: identity, endpoint: "tcp://a:1", now: .seconds(0))
    }

    /// A node whose claim was sent, and confirmed, at a time.
    static func leading(at time: Double) -> TestNode {
        let node = TestNode()
        _ = node.observed(.resigned(heir: nil), at: time)
        _ = node.claimed(at: time, now: time)
        _ = node.recovered(at: time)
        return node
    }

    func tick(at time: Double) -> [LeaderDirective] { run { $0.tick(at: .seconds(time), into: &$1) } }

    func observed(
        _ row: LeaderRow?,
        copy: LeaderMachine.Copy = .complete,
        at time: Double
    ) -> [LeaderDirective] {
        var generator = generator
        return run {
            guard let row else { return $0.unobserved(because: "test", at: .seconds(time), into: &$1) }
            $0.observed([row], copy: copy, at: .seconds(time), using: &generator, into: &$1)
        }
    }

    func claimed(at sent: Double?, now: Double) -> [LeaderDirective] {
        run { $0.claimed(sent: sent.map(Instant.seconds), at: .seconds(now), into: &$1) }
    }

    func recovered(at time: Double) -> [LeaderDirective] {
        run { $0.recovered(at: .seconds(time), into: &$1) }
    }

    func confirmed(sent: Double, at time: Double) {
        _ = run { $0.confirmed(sent: .seconds(sent), at: .seconds(time), into: &$1) }
    }

    func failed(_ reason: String) -> [LeaderDirective] { run { $0.failed(reason, into: &$1) } }

    func mayServe(at time: Double) -> Bool {
        var directives: [LeaderDirective] = []
        return machine.mayServe(at: .seconds(time), into: &directives)
    }

    private func run(_ event: (inout LeaderMachine, inout [LeaderDirective]) -> Void) -> [LeaderDirective] {
        var directives: [LeaderDirective] = []
        event(&machine, &directives)
        return directives
    }
}

extension [LeaderDirective] {
    fileprivate var claim: LeaderClaim? {
        for case .claim(let claim) in self { return claim }
        return nil
    }
    fileprivate var hasClaim: Bool { claim != nil }
    fileprivate var isEnd: Bool { if case .end = last { true } else { false } }
}

extension LeaderRow {
    fileprivate static var led: LeaderRow { led() }

    fileprivate static func led(term: UInt64 = 3, beat: UInt64 = 1, head: UInt64 = 7) -> LeaderRow {
        LeaderRow(term: Epoch(term), beat: beat, settled: JournalSequence(6), head: JournalSequence(head))
    }

    fileprivate static func resigned(heir: NodeID?) -> LeaderRow {
        var row = led
        (row.isResigned, row.heir) = (true, heir)
        return row
    }
}
