import Testing

@testable import StateCore

@Suite struct `The line of first stretches` {
    private typealias Call = @Sendable () -> Void

    @Test func `keeps the order behind one that takes its time, until the watch calls`() async {
        let calls = Recorder<Call>()
        let line = StartLine { calls.record($0) }
        let steps = Recorder<Int>()
        let (held, goOn) = (Gate(), Gate())
        line.append {
            steps.record(0)
            held.open()
            goOn.block()
            steps.record(4)
        }
        await held.passed()
        for number in 1...3 { line.append { steps.record(number) } }
        #expect(steps.all == [0])
        let call = await calls.reaching(1)[0]
        call()
        #expect(line.takeovers == 1)
        let beside = await steps.reaching(4)
        #expect(beside == [0, 1, 2, 3])
        goOn.open()
        let all = await steps.reaching(5)
        #expect(all == [0, 1, 2, 3, 4])
    }

    @Test func `is given up by the one who was held up, so that one at a time has it`() async {
        let calls = Recorder<Call>()
        let line = StartLine { calls.record($0) }
        let steps = Recorder<String>()
        let (first, second) = (Gate(), Gate())
        line.append {
            steps.record("first")
            first.block()
            steps.record("first is done")
        }
        await steps.reaching(1)
        line.append {
            steps.record("second")
            second.block()
            steps.record("second is done")
        }
        line.append { steps.record("third") }
        // The first call lets the second through, and nobody else.
        calls.all[0]()
        await steps.reaching(2)
        #expect(line.takeovers == 1)
        first.open()
        let held = await steps.reaching(3)
        #expect(held == ["first", "second", "first is done"])
        second.open()
        let all = await steps.reaching(5)
        #expect(all.suffix(2) == ["second is done", "third"])
    }

    @Test func `takes a call for a stretch that has ended as none for the next`() async {
        let calls = Recorder<Call>()
        let line = StartLine { calls.record($0) }
        let steps = Recorder<Int>()
        let (firstIsHeld, firstGoesOn) = (Gate(), Gate())
        let (secondIsHeld, secondGoesOn) = (Gate(), Gate())
        line.append {
            firstIsHeld.open()
            firstGoesOn.block()
        }
        await firstIsHeld.passed()
        line.append {
            secondIsHeld.open()
            secondGoesOn.block()
            steps.record(1)
        }
        line.append { steps.record(2) }
        firstGoesOn.open()
        await secondIsHeld.passed()
        let call = await calls.reaching(1)[0]
        call()
        // It is set again, for the second.
        #expect(calls.all.count == 2)
        #expect(line.takeovers == 0)
        secondGoesOn.open()
        let all = await steps.reaching(2)
        #expect(all == [1, 2])
    }

    @Test func `is not watched while nobody waits`() async {
        let calls = Recorder<Call>()
        let line = StartLine { calls.record($0) }
        let (held, goOn, done) = (Gate(), Gate(), Gate())
        line.append {
            held.open()
            goOn.block()
        }
        await held.passed()
        #expect(calls.all.isEmpty)
        line.append { done.open() }
        #expect(calls.all.count == 1)
        goOn.open()
        await done.passed()
        calls.all[0]()
        #expect(calls.all.count == 1)
    }
}
