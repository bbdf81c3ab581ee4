import StatecastCore
import StatecastTesting
import Testing

@Suite struct LatchTests {
    @Test func `tasks wait until the latch is open`() async {
        let latch = Latch()
        let passed = Spy<Int>()
        await withDiscardingTaskGroup { group in
            for number in 1...3 {
                group.addTask {
                    await latch.wait()
                    passed(number)
                }
            }
            await latch.reached(count: 3)
            #expect(passed.values == [])
            latch.open()
        }
        await latch.wait()
        #expect(Set(passed.values) == [1, 2, 3])
    }

    @Test func `a cancelled task does not wait`() async {
        let latch = Latch()
        let waiting = Task { await latch.wait() }
        await latch.reached()
        waiting.cancel()
        await waiting.value
    }

    @Test func `a task that was cancelled before does not wait`() async {
        let latch = Latch()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await latch.wait()
        }.value
    }

    @Test func `blocking work waits, too`() async {
        let latch = Latch()
        let core = TestCore(Library(), reducer: Library.reducer())
        await core.send(
            Wanted(
                .blocking { send in
                    latch.waitBlocking()
                    send(Reached(1))
                }
            )
        )
        await latch.reached()
        latch.open()
        await core.receive(Reached(1))
        await core.finish()
    }

    @Test func `a latch that no work reaches is an issue`() async {
        let latch = Latch(patience: .zero)
        await expectIssues("there were 0") { await latch.reached() }
    }

    @Test func `a blocking wait in a task is an issue and does not wait`() async {
        await expectIssues("In a task, call wait().") {
            let wait = { Latch().waitBlocking() }
            wait()
        }
    }
}
