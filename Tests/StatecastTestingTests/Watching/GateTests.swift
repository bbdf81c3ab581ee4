import StateCore
import StatecastTesting
import Testing

@Suite struct GateTests {
    @Test func `nobody passes before the gate is open, and everybody after`() async {
        let gate = Gate()
        let passed = Spy<Int>()
        await withDiscardingTaskGroup { group in
            for number in 1...3 {
                group.addTask {
                    await gate.wait()
                    passed(number)
                }
            }
            await gate.reached(count: 3)
            #expect(passed.values == [])
            gate.open()
        }
        await gate.wait()
        #expect(Set(passed.values) == [1, 2, 3])
    }

    @Test func `a cancelled task passes`() async {
        let gate = Gate()
        let waiting = Task { await gate.wait() }
        await gate.reached()
        waiting.cancel()
        await waiting.value
    }

    @Test func `a task that is cancelled before it comes passes`() async {
        let gate = Gate()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await gate.wait()
        }.value
    }

    @Test func `blocking work is held up as well`() async {
        let gate = Gate()
        let core = TestCore(Library(), reducer: Library.reducer())
        await core.send(
            Wanted(
                .blocking { send in
                    gate.waitBlocking()
                    send(Reached(1))
                }
            )
        )
        await gate.reached()
        gate.open()
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `a gate that nobody comes to is an issue`() async {
        let gate = Gate(patience: .zero)
        await expectIssues("there were 0") { await gate.reached() }
    }
}
