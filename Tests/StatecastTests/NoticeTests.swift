import CounterApp
import Foundation
import Logging
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

/// What a node logs by default while its caller waits in vain.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A node's log` {
    private let log = EventLog()

    private func replica(_ store: String = "counter", from endpoint: String) throws -> Replica<Counter> {
        try Replica(store: store, from: endpoint, configuration: .quick, logger: LogBook.logger(log)).started()
    }

    private func sender(_ store: String = "counter", from endpoint: String) throws -> ActionSender {
        try ActionSender(store: store, from: endpoint, configuration: .quick, logger: LogBook.logger(log)).started()
    }

    @Test func `A node's log says that it waits for a primary at an endpoint, and when one answers`() async throws {
        let folder = try TemporaryFolder()
        let publish = "ipc://\(folder.path)/publish"
        let waiting = "notice: waiting for the primary at \(publish): check that it runs, and that this is the endpoint"
        let replica = try replica(from: publish)
        let sender = try sender(from: publish)
        try await log.waits(for: waiting)
        try await withCounter {
            $0.publish = publish
        } _: { cluster in
            try await replica.reached(try await sender.send(CounterIncreaseRequested()))
            // The replica or the sender; the other one may not have waited long enough.
            try await log.waits(for: "notice: the primary at \(publish) answers")
            // The endpoint for actions instead.
            let actions = cluster.address.actions
            _ = try self.replica(from: actions)
            try await log.waits(for: "notice: waiting for the primary at \(actions)")
        }
    }

    @Test func `A node's log says why the primary refuses it, once`() async throws {
        try await withCounter { cluster in
            let publish = cluster.address.publish
            let reason = #"unknown-store: there is no store "countr""#
            let replica = try replica("countr", from: publish)
            try await log.waits(for: "warning: cannot follow the primary at \(publish): \(reason)")
            let sender = try sender("countr", from: publish)
            try await log.waits(for: "warning: cannot send to the primary at \(publish): \(reason)")
            for await status in replica.statuses { if case .refused = status { break } }
            for await status in sender.statuses { if case .refused = status { break } }
            #expect(log.events.count { $0.hasPrefix("warning: cannot") } == 2, "\(log.events)")
        }
    }

    @Test
    func `A node's log names the first rejection with each code of what was dispatched to a sender`() async throws {
        try await withCounter { cluster in
            let sender = try sender(from: cluster.address.publish)
            for _ in 1...3 { sender.dispatch(Written(line: "a")) }
            // Its caller learns of it.
            await #expect(throws: Rejection.self) { try await sender.send(Written(line: "b")) }
            try await log.waits(for: "warning: a dispatched action was rejected")
            let lines = log.events.filter { $0.hasPrefix("warning: a dispatched action was rejected") }
            #expect(lines.count == 1, "\(log.events)")
            #expect(lines.first?.contains("reason=unknown-action: ") == true, "\(lines)")
        }
    }

    @Test
    func `A node's log names the first rejection with each code of what was dispatched to a primary`() async throws {
        let refusing = Middleware<Diary> { action, _, next in
            guard let written = action as? Written, written.line != "fine" else { return try next(action) }
            throw Rejection(Rejection.Code(rawValue: written.line), "not \(written.line)")
        }
        let primary = try Primary.diary(middleware: [refusing], log: log)
        try await primary.start()
        for line in ["sold", "sold", "late", "sold"] { primary.dispatch(Written(line: line)) }
        try await primary.send(Written(line: "fine"))
        await #expect(throws: Rejection.self) { try await primary.send(Written(line: "asked")) }
        await primary.stop()
        let lines = log.events.filter { $0.hasPrefix("warning: a dispatched action was rejected") }
        let reasons = lines.map { $0.split(separator: "reason=").last.map(String.init) }
        #expect(reasons == ["sold: not sold store=diary", "late: not late store=diary"])
    }

    @Test func `A node's log says that run() was not called, unless the node was released`() async throws {
        func make() throws -> (Primary<Diary>, Replica<Diary>, ActionSender) {
            let primary = try Primary.diary(log: log)
            let replica = try Replica<Diary>(store: "diary", from: "tcp://127.0.0.1:9", logger: LogBook.logger(log))
            let sender = try ActionSender(store: "diary", from: "tcp://127.0.0.1:9", logger: LogBook.logger(log))
            return (primary, replica, sender)
        }
        _ = try make()
        let nodes = try make()
        for node in ["primary of store diary", "replica of store diary", "sender of store diary"] {
            try await log.waits(for: "notice: the \(node) was created, and does nothing before run() is called")
        }
        #expect(log.events.count == 3, "\(log.events)")
        withExtendedLifetime(nodes) {}
    }
}

@Suite struct `The log of a primary's presence` {
    private let log = EventLog()

    private func presence(_ role: PresenceLog.Role = .replica, hasKeys: Bool = false) throws -> PresenceLog {
        PresenceLog(role, try StoreName("s"), at: "ipc://p", hasKeys: hasKeys, LogBook.logger(log))
    }

    private func at(_ milliseconds: Int) -> Instant { Instant(offset: .milliseconds(milliseconds)) }

    @Test func `The log of a primary's presence has a condition once it has lasted two seconds, and its end`() throws {
        var presence = try presence()
        presence.changed(to: .absent, at: at(0))
        #expect(presence.nextDeadline(orEarlier: nil) == at(2000))
        #expect(presence.nextDeadline(orEarlier: at(5)) == at(5))
        presence.tick(at: at(1999))
        #expect(log.events == [])
        // A repeated condition is the same one.
        presence.changed(to: .absent, at: at(1999))
        presence.tick(at: at(2000))
        presence.changed(to: .absent, at: at(2001))
        #expect(presence.nextDeadline(orEarlier: nil) == nil)
        presence.changed(to: .present, at: at(3000))
        // Too short.
        presence.changed(to: .absent, at: at(4000))
        presence.changed(to: .present, at: at(5999))
        presence.tick(at: at(6000))
        presence.changed(to: .absent, at: at(7000))
        presence.tick(at: at(9000))
        #expect(
            log.events == [
                "notice: waiting for the primary at ipc://p: check that it runs, and that this is the endpoint at "
                    + "which it publishes store=s",
                "notice: the primary at ipc://p answers store=s",
                "notice: the primary at ipc://p fell silent, waiting for it store=s",
            ]
        )
    }

    @Test func `A refusal is logged at once, and again only after the primary has answered`() throws {
        var presence = try presence(.sender)
        let reason = Rejection(.unknownStore, "there is none")
        for _ in 1...2 {
            for _ in 1...3 {
                presence.changed(to: .refused(reason), at: at(0))
                presence.changed(to: .absent, at: at(1))
            }
            presence.changed(to: .present, at: at(2))
        }
        let refused = "warning: cannot send to the primary at ipc://p: unknown-store: there is none store=s"
        let answers = "notice: the primary at ipc://p answers store=s"
        #expect(log.events == [refused, answers, refused, answers])
    }

    @Test func `The log of a primary's presence has the beginning of a long refusal, once for each code`() throws {
        var presence = try presence(.sender)
        for number in 0...3 {
            let message = String(repeating: "\(number)", count: 100_000)
            presence.changed(to: .refused(Rejection(Rejection.Code(rawValue: message), message)), at: at(0))
            presence.changed(to: .refused(Rejection(.unknownStore, message)), at: at(0))
            presence.changed(to: .refused(Rejection(.unknownStore, "\(number)")), at: at(0))
        }
        #expect(log.events.count == 8)
        #expect(log.events.allSatisfy { $0.utf8.count < 700 })
        var rejected = RejectedDispatchLog(try StoreName("s"), LogBook.logger(log))
        for number in 0...1 {
            let text = String(repeating: "a", count: 100_000) + "\(number)"
            rejected.rejected(Rejection(Rejection.Code(rawValue: text), text))
        }
        #expect(log.events.count == 9)
        #expect(log.events.allSatisfy { $0.utf8.count < 700 })
    }

    @Test func `The log has its own words for the end of a pause, and names what keys have to match`() throws {
        var presence = try presence(.sender, hasKeys: true)
        presence.changed(to: .absent, at: at(0))
        presence.tick(at: at(2000))
        presence.changed(to: .present, at: at(2001))
        presence.changed(to: .unreachable(actions: "ipc://a"), at: at(3000))
        presence.tick(at: at(5000))
        presence.changed(to: .paused(Rejection(.storageFull, "no room")), at: at(6000))
        presence.tick(at: at(8000))
        presence.changed(to: .present, at: at(9000))
        try #require(log.events.count == 5, "\(log.events)")
        #expect(log.events[0].contains("permits this node's key, and that the endpoint is the one for receipts"))
        #expect(log.events[2].contains("accepts actions at ipc://a, where no process answers"))
        #expect(log.events[3].contains("accepts no actions for now: storage-full: no room"))
        #expect(log.events[4] == "notice: the primary at ipc://p accepts actions again store=s")
    }
}
