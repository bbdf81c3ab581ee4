import Foundation
import StateCore
import Testing

@Suite struct `A thunk` {
    private func core(_ others: Middleware<Log>...) -> Core<Log> {
        Core(Log(), reducer: Log.reducer, middleware: others + [.thunk], now: { .epoch })
    }

    @Test func `looks at the state and returns a value, through other middlewares`() async throws {
        let core = core(Middleware { action, _, next in try next(action) })
        core.dispatch(Append(4))
        let reply = try await core.send(Thunk<Log> { $0.state.entries.count })
        #expect(reply.value as? Int == 1)
        #expect(reply.revision == 1)
    }

    @Test func `dispatches, and what it dispatches comes behind it`() async throws {
        let core = core()
        let reply = try await core.send(
            Thunk<Log> { store in
                store.dispatch(Append(1))
                store.dispatch(Append(2))
                return store.state.entries
            }
        )
        #expect(reply.value as? [Int] == [])
        #expect(core.state.entries == [1, 2])
    }

    @Test func `dispatches later`() async throws {
        let core = core()
        let goOn = Gate()
        let reply = try await core.send(
            Thunk<Log> { store in
                let dispatcher = store.dispatcher
                return Task {
                    await goOn.passed()
                    dispatcher.dispatch(Append(1))
                }
            }
        )
        let later = try #require(reply.value as? Task<Void, Never>)
        #expect(core.state.entries.isEmpty)
        goOn.open()
        await later.value
        #expect(core.state.entries == [1])
    }

    @Test func `may dispatch another thunk`() {
        let core = core()
        core.dispatch(
            Thunk<Log> { store in
                store.dispatch(Thunk<Log> { $0.dispatch(Append(1)) })
                store.dispatch(Append(2))
            }
        )
        #expect(core.state.entries == [2, 1])
    }

    @Test func `that returns nothing, or nil, is answered all the same`() async throws {
        let core = core()
        let nothing = try await core.send(Thunk<Log> { _ in })
        #expect(nothing.value is Void)
        let absent = try await core.send(Thunk<Log> { _ in Int?.none })
        #expect(absent.value != nil)
        #expect(absent.value as? Int == nil)
    }

    @Test func `that throws is rejected`() async {
        let core = core()
        await #expect(throws: Rejection(.refused, "not now")) {
            try await core.send(Thunk<Log> { _ in throw Rejection(.refused, "not now") })
        }
    }

    @Test func `is no action that anybody sees, and leaves the revision alone`() {
        let core = core()
        let seen = Recorder<UInt64>()
        let subscriptions = [core.tap(.before) { seen.record($0.revision) }, core.observe { seen.record($0.revision) }]
        core.dispatch(Thunk<Log> { _ in 1 })
        #expect(seen.all == [0])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `cannot be encoded or decoded, and says why`() throws {
        let thunk = Thunk<Log> { _ in 1 }
        let reason = "a thunk is code and cannot leave its process: send a plain action and let an effect do the work"
        do {
            _ = try JSONEncoder().encode(thunk)
            Issue.record("was encoded")
        } catch let EncodingError.invalidValue(_, context) {
            #expect(context.debugDescription == reason)
        }
        do {
            _ = try JSONDecoder().decode(Thunk<Log>.self, from: Data("{}".utf8))
            Issue.record("was decoded")
        } catch let DecodingError.dataCorrupted(context) {
            #expect(context.debugDescription == reason)
        }
    }
}
