import Foundation
import StatecastCore
import Testing

@Suite struct `A thunk` {
    private func core(_ others: Middleware<Log>...) -> Core<Log> {
        Core(Log(), reducer: Log.reducer, middleware: others + [.thunk], now: { .epoch })
    }

    @Test func `A thunk reads the state and returns a value, through other middlewares`() async throws {
        let core = core(Middleware { action, _, next in try next(action) })
        core.dispatch(Append(4))
        #expect(try await core.send(Thunk<Log, Int> { $0.state.entries.count }) == 1)
        let untyped: any Action = Thunk<Log, Int> { $0.state.entries.count }
        let reply = try await core.send(untyped)
        #expect(reply.value as? Int == 1)
        #expect(reply.revision == 1)
    }

    @Test func `A thunk dispatches actions that are reduced after it`() async throws {
        let core = core()
        let before = try await core.send(
            Thunk { (store: MiddlewareStore<Log>) in
                store.dispatch(Append(1))
                store.dispatch(Append(2))
                return store.state.entries
            }
        )
        #expect(before == [])
        #expect(core.state.entries == [1, 2])
    }

    @Test func `A thunk dispatches later`() async throws {
        let core = core()
        let goOn = Gate()
        let later = try await core.send(
            Thunk { (store: MiddlewareStore<Log>) in
                let dispatcher = store.dispatcher
                return Task {
                    await goOn.passed()
                    dispatcher.dispatch(Append(1))
                }
            }
        )
        #expect(core.state.entries.isEmpty)
        goOn.open()
        await later.value
        #expect(core.state.entries == [1])
    }

    @Test func `A thunk may dispatch another thunk`() {
        let core = core()
        core.dispatch(
            Thunk<Log, Void> { store in
                store.dispatch(Thunk<Log, Void> { $0.dispatch(Append(1)) })
                store.dispatch(Append(2))
            }
        )
        #expect(core.state.entries == [2, 1])
    }

    @Test func `A thunk that returns Void or nil has a result`() async throws {
        let core = core()
        try await core.send(Thunk<Log, Void> { _ in })
        #expect(try await core.send(Thunk<Log, Int?> { _ in nil }) == nil)
        #expect(try await core.send(Thunk<Log, Int?> { _ in 3 }) == 3)
    }

    @Test func `A thunk that throws is rejected`() async {
        let core = core()
        await #expect(throws: Rejection(.refused, "not now")) {
            try await core.send(Thunk<Log, Void> { _ in throw Rejection(.refused, "not now") })
        }
    }

    @Test func `A thunk is not delivered to observers and taps, and does not change the revision`() {
        let core = core()
        let seen = Recorder<UInt64>()
        let subscriptions = [core.tap(.before) { seen.record($0.revision) }, core.observe { seen.record($0.revision) }]
        core.dispatch(Thunk<Log, Int> { _ in 1 })
        #expect(seen.all == [0])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `A thunk cannot be encoded or decoded, and says why`() throws {
        let thunk = Thunk<Log, Int> { _ in 1 }
        let reason = "a thunk is code and cannot leave its process: send a plain action and let an effect do the work"
        do {
            _ = try JSONEncoder().encode(thunk)
            Issue.record("was encoded")
        } catch let EncodingError.invalidValue(_, context) {
            #expect(context.debugDescription == reason)
        }
        do {
            _ = try JSONDecoder().decode(Thunk<Log, Int>.self, from: Data("{}".utf8))
            Issue.record("was decoded")
        } catch let DecodingError.dataCorrupted(context) {
            #expect(context.debugDescription == reason)
        }
    }

    /// A core whose middlewares run no thunk of its state.
    private func core(_ middleware: [Middleware<Log>], reporting warnings: Recorder<RuntimeWarning>) -> Core<Log> {
        Core(Log(), reducer: Log.reducer, middleware: middleware, now: { .epoch }, warn: { warnings.record($0) })
    }

    @Test(arguments: [false, true], [false, true])
    func `A thunk that no middleware runs raises a warning`(hasOtherMiddleware: Bool, hasTap: Bool) async {
        let warnings = Recorder<RuntimeWarning>()
        let core = core(hasOtherMiddleware ? [.policy { _, _ in }] : [], reporting: warnings)
        let tap = hasTap ? core.tap(.before) { _ in } : nil
        core.dispatch(Thunk<Log, Int> { _ in 1 })
        core.dispatch(Append(1))
        #expect(warnings.all == [.unhandledByMiddleware(action: "Thunk<Log, Int>")])
        #expect(core.state.entries == [1])
        tap?.cancel()
    }

    @Test func `A thunk of another state raises a warning`() async {
        let warnings = Recorder<RuntimeWarning>()
        let core = core([.thunk], reporting: warnings)
        core.dispatch(Thunk<Int, Void> { _ in })
        #expect(warnings.all == [.unhandledByMiddleware(action: "Thunk<Int, ()>")])
    }

    @Test func `A thunk that no middleware runs is rejected with advice when its value is awaited`() async throws {
        let core = core([], reporting: Recorder())
        let rejection = await #expect(throws: Rejection.self) { try await core.send(Thunk<Log, Int> { _ in 1 }) }
        #expect(rejection?.code == .swallowed)
        #expect(try #require(rejection).message.contains("add .thunk to the core's middleware"))
    }
}
