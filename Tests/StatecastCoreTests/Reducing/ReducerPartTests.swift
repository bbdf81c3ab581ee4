import StatecastCore
import Testing

@Suite struct `A reducer applied to a part` {
    private struct Part: Equatable, Sendable {
        var numbers = Array(repeating: 0, count: 100)
    }

    private struct Whole: Sendable {
        var part = Part()
        var absent: Part?
        var all = [Part(), Part(), Part()]
        var keyed = ["a": Part(), "b": Part()]
    }

    private let context = ActionContext(time: .epoch)

    /// Increments the numbers, and returns whether their buffer stayed in place: a second reference would cause a copy.
    private func counting(_ isInPlace: Recorder<Bool>) -> Reducer<Part> {
        Reducer { part, _ -> Effect in
            let before = place(of: part)
            part.numbers[0] += 1
            isInPlace.record(place(of: part) == before)
            return .dispatch(Append(part.numbers[0]))
        }
    }

    /// Dispatches two actions to a core and returns the state.
    private func run(from whole: () -> Whole = { Whole() }, _ reducer: Reducer<Whole>, sent: Recorder<Int>) -> Whole {
        // Created in the call, so that only the core references it.
        let core = Core(
            whole(),
            reducer: .withContext { whole, action, context in
                if let action = action as? Append {
                    sent.record(action.number)
                    return .none
                }
                return reducer.reduce(into: &whole, action, context: context)
            },
            now: { .epoch }
        )
        core.dispatch(Perform("a"))
        core.dispatch(Perform("b"))
        return core.state
    }

    @Test func `A reducer applied to a part changes a part in place, and returns its effects`() {
        let (isInPlace, sent) = (Recorder<Bool>(), Recorder<Int>())
        let whole = run(counting(isInPlace).pullback(\.part), sent: sent)
        #expect(whole.part.numbers[0] == 2)
        #expect(isInPlace.all == [true, true])
        #expect(sent.all == [1, 2])
    }

    @Test func `A reducer applied to a part changes a part of a part in place`() {
        struct Outer: Sendable { var inner = Whole() }
        let isInPlace = Recorder<Bool>()
        let reducer = counting(isInPlace).pullback(\Whole.part).pullback(\Outer.inner)
        var outer = Outer()
        _ = reducer.reduce(into: &outer, Append(1), context: context)
        #expect(outer.inner.part.numbers[0] == 1)
        #expect(isInPlace.all == [true])
    }

    @Test func `A reducer applied to a part changes an optional part in place, and returns its effects`() {
        let (isInPlace, sent) = (Recorder<Bool>(), Recorder<Int>())
        let whole = run(from: { Whole(absent: Part()) }, counting(isInPlace).optional().pullback(\.absent), sent: sent)
        #expect(whole.absent?.numbers[0] == 2)
        #expect(isInPlace.all == [true, true])
        #expect(sent.all == [1, 2])
    }

    @Test func `A reducer applied to a part ignores actions while the part is nil`() {
        let (isInPlace, sent) = (Recorder<Bool>(), Recorder<Int>())
        let whole = run(counting(isInPlace).optional().pullback(\.absent), sent: sent)
        #expect(whole.absent == nil)
        #expect(isInPlace.all.isEmpty)
        #expect(sent.all.isEmpty)
    }

    @Test func `A reducer applied to a part may set the part to nil`() {
        let clearing = Reducer<Part?> { part, _ in part = nil }
        var whole = Whole()
        whole.absent = Part()
        _ = Reducer.combine(clearing, counting(Recorder()).optional()).pullback(\Whole.absent)
            .reduce(into: &whole, Append(1), context: context)
        #expect(whole.absent == nil)
    }

    @Test func `A reducer applied to a part changes every element in place, in order, and returns their effects`() {
        let (isInPlace, sent) = (Recorder<Bool>(), Recorder<Int>())
        let initial = {
            var whole = Whole()
            for index in 0..<3 { whole.all[index].numbers[0] = index * 10 }
            return whole
        }
        let whole = run(from: initial, counting(isInPlace).forEach(\.all), sent: sent)
        #expect(whole.all.map { $0.numbers[0] } == [2, 12, 22])
        #expect(isInPlace.all == Array(repeating: true, count: 6))
        #expect(sent.all == [1, 11, 21, 2, 12, 22])
    }

    @Test func `A reducer applied to a part changes only the element that an action names, in place`() {
        let (isInPlace, sent) = (Recorder<Bool>(), Recorder<Int>())
        let reducer = counting(isInPlace).forEach(\Whole.keyed) { ($0 as? Perform)?.effect }
        var whole = Whole()
        let other = place(of: whole.keyed["b"])
        for key in ["a", "nobody", "a"] { _ = reducer.reduce(into: &whole, Perform(key), context: context) }
        _ = reducer.reduce(into: &whole, Append(1), context: context)
        #expect(whole.keyed["a"]?.numbers[0] == 2)
        #expect(whole.keyed["b"] == Part())
        #expect(whole.keyed.count == 2)
        #expect(isInPlace.all == [true, true])
        #expect(place(of: whole.keyed["b"]) == other)
        let ran = run(reducer, sent: sent)
        #expect(ran.keyed.mapValues { $0.numbers[0] } == ["a": 1, "b": 1])
        #expect(sent.all == [1, 1])
    }

    @Test func `A reducer applied to a part receives the time from the core through all compositions`() {
        struct Outer: Sendable {
            var whole: Whole? = Whole()
        }
        let times = Recorder<Int64>()
        let part = Reducer<Part>.withContext { _, _, context in
            times.record(context.time.milliseconds)
            return .none
        }
        let slots = ReducerSlots<Outer>()
        let wholes: [Reducer<Whole>] = [
            part.pullback(\.part), part.forEach(\.all), part.forEach(\.keyed) { _ in "a" },
        ]
        for (index, whole) in wholes.enumerated() {
            let outer = whole.optional().pullback(\Outer.whole)
            Core(Outer(), reducer: .combine(Reducer { _, _ in }, outer), now: { Timestamp(milliseconds: 7) })
                .dispatch(Append(index))
            slots[index] = outer
        }
        #expect(times.all == [7, 7, 7, 7, 7])
        Core(Outer(), reducer: slots.reducer, now: { Timestamp(milliseconds: 8) }).dispatch(Append(0))
        #expect(times.all.dropFirst(5) == [8, 8, 8, 8, 8])
    }

    /// The address of a part's numbers.
    private func place(of part: Part?) -> UInt? {
        part?.numbers.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
}

@Suite struct `A reducer applied to 100,000 elements` {
    private struct Whole {
        var rows = Array(0..<100_000)
    }

    @Test func `A reducer applied to 100,000 elements starts the effects of all of them, in order`() {
        let row = Reducer<Int> { row, _ -> Effect in .dispatch(Append(row)) }
        var whole = Whole()
        let context = ActionContext(time: .epoch)
        let effect = row.forEach(\Whole.rows).reduce(into: &whole, Perform("all"), context: context)
        let isInOrder = delivered(by: effect) == whole.rows
        #expect(isInOrder)
    }
}
