import StateCore
import Testing

@Suite struct `Reducer slots` {
    private func appending(_ number: Int) -> Reducer<Log> { Reducer { log, _ in log.entries.append(number) } }

    /// What one action makes of an empty log.
    private func folded(_ slots: ReducerSlots<Log>) -> [Int] {
        var log = Log()
        _ = slots.reducer.reduce(into: &log, Append(0), context: ActionContext(time: .epoch))
        return log.entries
    }

    @Test func `are empty at first, and then leave the state alone`() {
        let slots = ReducerSlots<Log>()
        #expect(folded(slots).isEmpty)
        #expect(slots["a"] == nil)
    }

    @Test func `fold in the order in which they were added`() {
        let slots = ReducerSlots<Log>()
        for number in 0..<100 { slots[number] = appending(number) }
        #expect(folded(slots) == Array(0..<100))
    }

    @Test func `keep the place of one that is replaced, and close up where one is removed`() {
        let slots = ReducerSlots<Log>()
        for number in 1...3 { slots["\(number)"] = appending(number) }
        slots["2"] = appending(20)
        #expect(folded(slots) == [1, 20, 3])
        slots["1"] = nil
        slots["nobody"] = nil
        #expect(folded(slots) == [20, 3])
        slots["1"] = appending(10)
        #expect(folded(slots) == [20, 3, 10])
        #expect(slots["1"] != nil)
    }

    @Test func `tell keys of different types apart`() {
        let slots = ReducerSlots<Log>()
        slots[1] = appending(1)
        slots["1"] = appending(2)
        #expect(folded(slots) == [1, 2])
        slots[1] = nil
        #expect(folded(slots) == [2])
    }

    @Test func `hand effects on, in order`() {
        let slots = ReducerSlots<Log>()
        for number in 1...3 {
            slots[number] = Reducer { _, action -> Effect in action is Perform ? .dispatch(Append(number)) : .none }
        }
        let core = Core(Log(), reducer: .combine(Log.reducer, slots.reducer), now: { .epoch })
        core.dispatch(Perform("all"))
        #expect(core.state.entries == [1, 2, 3])
    }

    @Test func `changed by a reducer in one of them apply from the next action on`() {
        let slots = ReducerSlots<Log>()
        let added = appending(2)
        slots["first"] = Reducer { log, _ in
            log.entries.append(1)
            slots["second"] = added
        }
        let core = Core(Log(), reducer: slots.reducer, now: { .epoch })
        core.dispatch(Append(0))
        #expect(core.state.entries == [1])
        core.dispatch(Append(0))
        #expect(core.state.entries == [1, 1, 2])
        slots["first"] = nil
    }

    @Test func `may be set by what goes with a reducer that is taken out`() {
        let slots = ReducerSlots<Log>()
        let added = appending(2)
        func fill() {
            let witness = Witness { slots["other"] = added }
            slots["first"] = Reducer { _, _ in withExtendedLifetime(witness) {} }
        }
        fill()
        slots["first"] = nil
        #expect(folded(slots) == [2])
    }

    @Test func `change from other threads while actions are reduced`() async {
        let slots = ReducerSlots<Log>()
        slots["first"] = appending(1)
        let core = Core(Log(), reducer: slots.reducer, now: { .epoch })
        let added = appending(2)
        await onThreads(4) { thread in
            for _ in 0..<500 {
                if thread.isMultiple(of: 2) {
                    core.dispatch(Append(0))
                } else {
                    slots[thread] = added
                    slots[thread] = nil
                }
            }
        }
        let count = try? await core.send(Append(0)).revision
        #expect(count == 1_001)
        #expect(core.state.entries.filter { $0 == 1 }.count == 1_001)
        // Others were there for some of the actions, and for two at most at a time.
        #expect(core.state.entries.filter { $0 == 2 }.count <= 2_000)
        #expect(folded(slots) == [1])
    }
}
