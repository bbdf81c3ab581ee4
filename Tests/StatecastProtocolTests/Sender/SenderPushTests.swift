import StatecastProtocol
import Testing

@Suite struct `A sender that pushes` {
    @Test func `a sender subscribes to its receipts first, and pushes nothing before the watermark`() {
        var bench = SenderBench()
        #expect(bench.subscriptions == [.receipts(Fixture.session)])
        bench.send()
        #expect(bench.machine.nextFrame == nil)
        #expect(bench.watermark(nil).contains(.connect(Fixture.endpoint)))
        #expect(bench.statuses == [.connecting, .open])
        #expect(bench.push().map(\.numbers) == [1...1])
    }

    @Test func `a frame names the session as its first watermark opened it`() {
        var bench = SenderBench()
        bench.watermark(nil, opened: 42)
        bench.send(2)
        let frame = bench.machine.nextFrame
        #expect(frame?.header.lineage == Fixture.lineage)
        #expect(frame?.header.session == Fixture.session)
        #expect(frame?.header.opened == JournalSequence(42))
        #expect(frame?.header.base == ActionNumber(1))
        #expect(frame?.header.count == 2)
        bench.push()
        bench.wait()
        bench.watermark(nil, opened: 50)
        #expect(bench.machine.nextFrame?.header.opened == JournalSequence(42))
    }

    @Test func `one frame of a new session is outstanding until the primary knows the session`() {
        var bench = SenderBench.openNew()
        bench.send(2)
        #expect(bench.push().map(\.numbers) == [1...2])
        bench.send(2)
        #expect(bench.push() == [])
        bench.receipts(1...1)
        #expect(bench.push().map(\.numbers) == [3...4])
        // The primary forgot the session; it did not: the watermark was late.
        bench.wait()
        bench.watermark(nil)
        #expect(bench.push().map(\.numbers) == [2...4])
        bench.send()
        #expect(bench.push() == [])
        bench.watermark(4)
        #expect(bench.push().map(\.numbers) == [5...5])
    }

    @Test func `after a watermark half a frame is in flight at most, and with each receipt as much more`() {
        var bench = SenderBench(
            .with {
                $0.minFrameBytes = 0
                $0.frameBytesTarget = 200
            }
        )
        bench.watermark(nil)
        bench.watermark(0)
        for _ in 1...40 {
            bench.send(bytes: 48)
            bench.push()
        }
        #expect(bench.machine.nextFrame == nil)
        bench.receipts(1...2)
        #expect(bench.push().map(\.numbers) == [3...6])
        bench.receipts(3...6)
        #expect(bench.push().map(\.numbers) == [7...10, 11...14])
        bench.refuse(.overloaded, retryAfter: .seconds(1), first: 7)
        bench.wait()
        bench.watermark(6)
        #expect(bench.push().map(\.numbers) == [7...10])
        bench.receipts(7...10)
        #expect(bench.push().map(\.numbers) == [11...14, 15...18])
    }

    @Test func `a number is assigned when an action is first sent`() {
        var bench = SenderBench.open()
        let tickets = bench.send(3)
        #expect(bench.giveUp(tickets[1]).code == .notSent)
        bench.push()
        bench.receipts(1...2)
        #expect(bench.outcomes[tickets[0]]?.number == ActionNumber(1))
        #expect(bench.outcomes[tickets[2]]?.number == ActionNumber(2))
        #expect(bench.outcomes[tickets[1]] == nil)
        #expect(bench.machine.pendingCount == 0)
    }

    @Test func `the next frame stays the same until it is sent`() {
        var bench = SenderBench.open()
        bench.send(2)
        #expect(bench.machine.nextFrame == bench.machine.nextFrame)
        bench.push()
        #expect(bench.machine.nextFrame == nil)
    }

    @Test func `the smaller window bounds the actions without a receipt`() {
        for (own, primary) in [(4, 10), (10, 4)] {
            var bench = SenderBench(.with { $0.maxWindowActions = own })
            bench.watermark(nil, window: primary)
            bench.send(9)
            #expect(bench.push().map(\.numbers) == [1...4])
            bench.receipts(1...1)
            #expect(bench.push().map(\.numbers) == [5...5])
            bench.receipts(3...5)
            #expect(bench.push() == [], "2 has no receipt: the window begins there")
            bench.receipts(2...2)
            #expect(bench.push().map(\.numbers) == [6...9])
        }
    }

    @Test func `a frame has at most maxFrameBytes bytes, its address included`() {
        var bench = SenderBench()
        bench.watermark(nil, maxFrameBytes: 1000)
        bench.watermark(0, maxFrameBytes: 1000)
        bench.send(40, bytes: 100)
        let store = Fixture.store(String(repeating: "n", count: StoreName.maxBytes))
        let frames = bench.push()
        #expect(frames.count < 10)
        #expect(frames.reduce(0) { $0 + $1.header.count } == 40)
        for frame in frames {
            #expect(Message.encode(frame, Fixture.secret, to: Address(store, .actions).bytes).count <= 1000)
        }
    }

    @Test func `a frame states the lowest number without a receipt`() {
        var bench = SenderBench.open()
        bench.send(3)
        #expect(bench.push().map(\.header.lowest) == [ActionNumber(1)])
        bench.receipts(1...2)
        bench.send()
        #expect(bench.push().map(\.header.lowest) == [ActionNumber(3)])
        bench.receipts(3...4)
        bench.send()
        #expect(bench.push().map(\.header.lowest) == [ActionNumber(5)])
    }

    @Test func `an action of maxActionBytes bytes is sent, a larger one is rejected at once`() {
        var bench = SenderBench()
        bench.watermark(nil, maxActionBytes: 10)
        let tickets = bench.send(bytes: 10) + bench.send(bytes: 11)
        #expect(bench.code(tickets[1]) == .tooLarge)
        #expect(bench.outcomes[tickets[1]]?.number == nil)
        #expect(bench.push().map(\.header.count) == [1])
        #expect(bench.machine.pendingCount == 1)
    }

    @Test func `queued actions that exceed the watermark's limit are rejected`() {
        var bench = SenderBench()
        let tickets = [10, 11, 9].map { bench.send(bytes: $0)[0] }
        #expect(bench.outcomes.isEmpty)
        bench.watermark(nil, maxActionBytes: 10)
        #expect(bench.code(tickets[1]) == .tooLarge)
        #expect(bench.push().map(\.header.count) == [2])
    }

    /// Only a hostile primary lowers its limits within an incarnation. The action would block those after it.
    @Test func `queued actions that exceed a lowered limit are rejected, whoever requested the watermark`() {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        let tickets = [20, 5].map { bench.send(bytes: $0)[0] }
        bench.watermark(0, maxActionBytes: 10)
        #expect(bench.code(tickets[0]) == .tooLarge && bench.code(tickets[1]) == nil)
        #expect(bench.push().map(\.numbers) == [2...2])
    }

    @Test func `an action that fits no frame is too large`() {
        var bench = SenderBench()
        bench.watermark(nil, maxFrameBytes: 1000)
        let maxBytes = (1..<1000).last { bytes in
            var copy = bench
            let ticket = copy.send(bytes: bytes)[0]
            return copy.code(ticket) == nil
        }
        bench.send(bytes: maxBytes ?? 0)
        let frame = bench.push().first
        #expect(
            frame.map { frame in
                let address = Address(Fixture.store(), .actions)
                return Message.encode(frame, Fixture.secret, to: address.bytes).count <= 1000
            } == true
        )
    }

    @Test func `sent actions are resent when the primary lowers its limit: their numbers cannot be skipped`() {
        var bench = SenderBench.open()
        let tickets = bench.send(2, bytes: 2000)
        bench.push()
        bench.wait()
        bench.watermark(0, maxActionBytes: 1000)
        #expect(bench.push().map(\.numbers) == [1...2])
        bench.receipts(1...2)
        #expect(tickets.map { bench.revision($0) } == [1, 2])
    }

    @Test func `an action withdrawn before it is sent is never sent, one withdrawn later is resent`() {
        var bench = SenderBench.open()
        let left = bench.send()[0]
        bench.push()
        let queued = bench.send()[0]
        #expect(bench.giveUp(queued).code == .notSent)
        #expect(bench.giveUp(left) == (.outcomeUnknown, ActionNumber(1)))
        #expect(bench.push() == [])
        bench.wait()
        bench.watermark(0)
        #expect(bench.push().map(\.numbers) == [1...1], "its number cannot be left out")
    }

    @Test func `actions without a receipt are pending`() {
        var bench = SenderBench.open()
        bench.send(3)
        #expect(bench.machine.pendingCount == 3)
        bench.push()
        bench.receipts(2...2)
        #expect(bench.machine.pendingCount == 2)
        bench.receipts(1...1)
        #expect(bench.machine.pendingCount == 1)
        bench.receipts(3...3)
        #expect(bench.machine.pendingCount == 0)
    }

    @Test func `a small frame waits while receipts are outstanding, for more actions or for receipts`() {
        var bench = SenderBench(.with { $0.minFrameBytes = 40 })
        bench.watermark(nil)
        bench.watermark(0)
        bench.send()
        #expect(bench.push().map(\.numbers) == [1...1], "nothing is outstanding")
        bench.send(3, bytes: 9)
        #expect(bench.machine.minSubmittedBytes == 10, "30 bytes are queued")
        #expect(bench.push() == [])
        bench.send(1, bytes: 9)
        #expect(bench.push().map(\.numbers) == [2...5], "40 bytes are ready")
        bench.send(2)
        #expect(bench.push() == [])
        bench.receipts(2...2)
        #expect(bench.push().map(\.numbers) == [6...7], "receipts have arrived")
        bench.send()
        #expect(bench.push() == [])
        bench.receipts(1...7)
        #expect(bench.machine.minSubmittedBytes == 1)
        #expect(bench.push().map(\.numbers) == [8...8])
    }

    /// With 40 bytes as the smallest frame, and actions of 10 bytes with their heads.
    @Test func `if much is outstanding, a frame waits for a quarter of it, also when receipts arrive`() {
        var bench = SenderBench(.with { $0.minFrameBytes = 40 })
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(20, bytes: 9)
        #expect(bench.push().map(\.numbers) == [1...20])
        bench.send(4, bytes: 9)
        #expect(bench.push() == [], "a quarter is 50 bytes")
        #expect(bench.machine.minSubmittedBytes == 10)
        bench.receipts(1...3)
        #expect(bench.push() == [], "a quarter is 42 bytes")
        #expect(bench.machine.minSubmittedBytes == 2)
        bench.send(1, bytes: 9)
        #expect(bench.push().map(\.numbers) == [21...25])
        bench.send(1, bytes: 9)
        bench.receipts(4...8)
        #expect(bench.push() == [], "17 actions are outstanding: a quarter is 42 bytes")
        bench.receipts(9...9)
        #expect(bench.push().map(\.numbers) == [26...26], "16 are, not more than four of the smallest frames")
    }

    @Test func `a frame of frameBytesTarget waits no longer, however much is outstanding`() {
        var bench = SenderBench(
            .with {
                $0.minFrameBytes = 40
                $0.frameBytesTarget = 600
            }
        )
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(bytes: 10_000)
        bench.push()
        bench.receipts(1...1)
        bench.send(300, bytes: 9)
        #expect(bench.push().map(\.numbers).last == 242...301)
        bench.send(59, bytes: 9)
        #expect(bench.push() == [])
        bench.send(1, bytes: 9)
        #expect(bench.push().map(\.numbers) == [302...361])
    }

    @Test(arguments: [(100, 16 << 20), (1000, 1000)])
    func `if much is outstanding, a frame waits until a fifth of the window is free`(actions: Int, bytes: Int) {
        var bench = SenderBench(
            .with {
                $0.minFrameBytes = 40
                $0.maxWindowActions = actions
                $0.maxWindowBytes = bytes
            }
        )
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(200, bytes: 9)
        #expect(bench.push().map(\.numbers) == [1...100])
        bench.receipts(1...19)
        #expect(bench.push() == [])
        bench.receipts(20...20)
        #expect(bench.push().map(\.numbers) == [101...120])
    }

    @Test func `actions with receipts are not outstanding, though one before them is`() {
        var bench = SenderBench(.with { $0.minFrameBytes = 40 })
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(40, bytes: 9)
        bench.push()
        bench.receipts(2...40)
        bench.send()
        #expect(bench.push().map(\.numbers) == [41...41])
    }

    @Test func `the loop asks for a whole frame while the window is closed`() {
        var bench = SenderBench(
            .with {
                $0.minFrameBytes = 40
                $0.frameBytesTarget = 600
                $0.maxWindowActions = 100
            }
        )
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(160, bytes: 9)
        bench.push()
        bench.receipts(1...60)
        #expect(bench.push().map(\.numbers) == [61...120, 121...160])
        #expect(bench.machine.minSubmittedBytes == 600)
        bench.send(50, bytes: 9)
        #expect(bench.machine.minSubmittedBytes == 100)
        bench.send(50, bytes: 9)
        #expect(bench.machine.minSubmittedBytes == 40)
    }

    @Test func `A sender that pushes with a very large minimum, a frame waits for receipts`() {
        var bench = SenderBench(
            .with {
                $0.minFrameBytes = .max / 8
                $0.maxWindowBytes = .max
            }
        )
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(100, bytes: 9)
        #expect(bench.push().map(\.numbers) == [1...100])
        bench.send(100, bytes: 9)
        #expect(bench.push() == [])
        bench.receipts(1...1)
        #expect(bench.push().map(\.numbers) == [101...200])
    }

    @Test func `actions that are pushed again do not wait`() {
        var bench = SenderBench(.with { $0.minFrameBytes = 1000 })
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(3)
        bench.push()
        bench.expect(2)
        #expect(bench.push().map(\.numbers) == [2...3])
        bench.wait()
        bench.watermark(0)
        #expect(bench.push().map(\.numbers) == [1...3])
    }

    @Test func `frames have at most frameBytesTarget bytes of actions, and a larger action is pushed alone`() {
        // An action of 40 bytes has a head of 2 bytes.
        for (target, numbers) in [(84, [2...3, 4...4, 5...5, 6...6]), (83, [2...2, 3...3, 4...4, 5...5, 6...6])] {
            var bench = SenderBench(
                .with {
                    $0.minFrameBytes = 0
                    $0.frameBytesTarget = target
                }
            )
            bench.watermark(nil)
            bench.watermark(0)
            bench.send(bytes: 1000)
            bench.push()
            bench.receipts(1...1)
            for bytes in [40, 40, 40, 400, 40] { bench.send(bytes: bytes) }
            #expect(bench.push().map(\.numbers) == numbers.map { UInt64($0.lowerBound)...UInt64($0.upperBound) })
        }
    }

    @Test func `outstanding actions have at most maxWindowBytes bytes, unless one is larger`() {
        for (window, last) in [(84, 2), (83, 1)] as [(Int, UInt64)] {
            var bench = SenderBench(
                .with {
                    $0.minFrameBytes = 0
                    $0.maxWindowBytes = window
                }
            )
            bench.watermark(nil)
            bench.watermark(0)
            bench.send(3, bytes: 40)
            #expect(bench.push().map(\.numbers) == [1...last])
            bench.receipts(1...1)
            #expect(bench.push().map(\.numbers) == [(last + 1)...(last + 1)])
            bench.receipts(2...3)
            bench.push()
            bench.receipts(3...3)
            bench.send(2, bytes: 400)
            #expect(bench.push().map(\.numbers) == [4...4])
            bench.receipts(4...4)
            #expect(bench.push().map(\.numbers) == [5...5])
        }
    }

    @Test func `at most maxWindowFrames frames are outstanding`() {
        let limits = Limits.with {
            $0.maxWindowBytes = 1000
            $0.minFrameBytes = 200
        }
        #expect(limits.maxWindowFrames == 5)
        #expect(Limits().maxWindowFrames == 1024)
        var bench = SenderBench(limits)
        bench.watermark(nil)
        bench.watermark(0)
        bench.send(30)
        var frames = bench.push()
        // Each receipt permits a small frame.
        for number in UInt64(1)...20 {
            bench.send()
            bench.receipts(number...number)
            frames += bench.push()
        }
        #expect(frames.map(\.numbers) == [1...30, 31...31, 32...32, 33...33, 34...34])
        bench.receipts(21...30)
        #expect(bench.push().map(\.numbers) == [35...50])
    }

    @Test func `the buffer of a chunk is released when all of its actions have their outcome`() {
        var bench = SenderBench.open()
        bench.send(2)
        bench.push()
        func released(_ directives: [SenderDirective]) -> Int {
            directives.count { if case .reuse = $0 { true } else { false } }
        }
        #expect(released(bench.receipts(2...2)) == 0)
        #expect(released(bench.receipts(1...1)) == 2)
    }
}
