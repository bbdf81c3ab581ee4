import Observation
import StatecastCore
import Testing

@MainActor
@Suite struct `An observed value` {
    @Test func `An observed value is the source's state from the start`() {
        let core = Lorry.core(miles: 7)
        #expect(Observed(core).value.miles == 7)
        #expect(Observed(core.scope(\.miles)).value == 7)
        #expect(Observed(core.scope { $0.miles + 1 }).value == 8)
    }

    @Test func `An observed value notifies its trackers of the next change`() async {
        let core = Lorry.core()
        let miles = Observed(core.scope(\.miles))
        await changed(miles) { core.dispatch(Driven(miles: 1)) }
        #expect(miles.value == 1)
        await changed(miles) { core.dispatch(Driven(miles: 2)) }
        #expect(miles.value == 2)
    }

    @Test func `An observed value does not change when the state stays equal`() async {
        let core = Lorry.core()
        let lorry = Observed(core)
        let told = Recorder<Void>()
        withObservationTracking {
            _ = lorry.value
        } onChange: {
            told.record(())
        }
        core.dispatch(Driven(miles: 0))
        await overtakeMainActor()
        #expect(told.all.isEmpty)
        withExtendedLifetime(lorry) {}
    }

    @Test func `An observed value uses its custom equality`() async {
        let core = Lorry.core()
        let miles = Observed(core.scope(\.miles), removeDuplicates: { $0 / 10 == $1 / 10 })
        core.dispatch(Driven(miles: 9))
        await overtakeMainActor()
        #expect(miles.value == 0)
        core.dispatch(Driven(miles: 10))
        await overtakeMainActor()
        #expect(miles.value == 10)
    }

    @Test func `An observed value has an initial value for a source without a state`() async {
        let source = ManualSource<Int>()
        let observed = Observed(source, initially: -1)
        #expect(observed.value == -1)
        await changed(observed) { source.deliver(Change(replay: 5, revision: 5)) }
        #expect(observed.value == 5)
    }

    @Test func `An observed value stops observing when it is dropped, and is not retained`() async {
        let core = Lorry.core()
        weak var held: Observed<Int>?
        do {
            let observed = Observed(core.scope(\.miles))
            held = observed
            #expect(held != nil)
        }
        #expect(held == nil)
        core.dispatch(Driven(miles: 1))
        await overtakeMainActor()
    }

    /// Returns after `value` has notified its trackers and changed.
    private func changed(_ value: Observed<Int>, by change: () -> Void) async {
        let told = Arrivals<Void>()
        withObservationTracking {
            _ = value.value
        } onChange: {
            told.record(())
        }
        change()
        _ = await told.next()
        await overtakeMainActor()
    }

    /// Returns after everything that was already queued for the main actor.
    private func overtakeMainActor() async { await Task.detached { @MainActor in }.value }

    @Test func `An observed value has changed when a dispatch on the main actor returns`() {
        let core = Lorry.core()
        let miles = Observed(core.scope(\.miles))
        core.dispatch(Driven(miles: 1))
        #expect(miles.value == 1)
    }
}
