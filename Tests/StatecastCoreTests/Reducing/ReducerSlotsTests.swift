import StatecastCore
import Testing

@Suite struct `Reducer slots` {
    private func appending(_ number: Int) -> Reducer<Log> { Reducer { log, _ in log.entries.append(number) } }

    /// The result of one action on an empty log.
    private func folded(_ slots: ReducerSlots<Log>) -> [Int] {
        var log = Log()
        _ = slots.reducer.reduce(into: &log, Append(0), context: ActionContext(time: .epoch))
        return log.entries
    }

    @Test func `Reducer slots are empty at first, and then ignore actions`() {
        let slots = ReducerSlots<Log>()
        #expect(folded(slots).isEmpty)
        #expect(slots["a"] == nil)
    }

    @Test func `Reducer slots run in the order in which they were added`() {
        let slots = ReducerSlots<Log>()
        for number in 0..<100 { slots[number] = appending(number) }
        #expect(folded(slots) == Array(0..<100))
    }

    @Test func `Reducer slots keep the position of a replaced reducer, and close the gap of a removed one`() {
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

    @Test func `Reducer slots distinguish keys of different types`() {
        let slots = ReducerSlots<Log>()
        slots[1] = appending(1)
        slots["1"] = appending(2)
        #expect(folded(slots) == [1, 2])
        slots[1] = nil
        #expect(folded(slots) == [2])
    }

    @Test func `Reducer slots return effects in order`() {
        let slots = ReducerSlots<Log>()
        for number in 1...3 {
            slots[number] = Reducer { _, action -> Effect in action is Perform ? .dispatch(Append(number)) : .none }
        }
        let core = Core(Log(), reducer: .combine(Log.reducer, slots.reducer), now: { .epoch })
        core.dispatch(Perform("all"))
        #expect(core.state.entries == [1, 2, 3])
    }

    @Test func `Reducer slots changed by one of their reducers apply from the next action on`() {
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

    @Test func `Reducer slots may be set during the release of a removed reducer`() {
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

    @Test func `Reducer slots change from other threads while actions are reduced`() async {
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
        // The other slots were present for some of the actions, at most two at a time.
        #expect(core.state.entries.filter { $0 == 2 }.count <= 2_000)
        #expect(folded(slots) == [1])
    }
}
