import Foundation
import Statecast
import StatecastCore
import StatecastJournal
import Testing

/// Senders that end, and others that continue from their session files.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A sender with a session file` {
    private let folder: TemporaryFolder
    private let journal = MemoryJournal()

    init() throws { folder = try TemporaryFolder() }

    private func primary(at address: PrimaryAddress? = nil) throws -> Primary<Diary> {
        var configuration = PrimaryConfiguration.anyPorts
        if let address { configuration = PrimaryConfiguration(publish: address.publish, actions: address.actions) }
        configuration.limits = .quick
        return try Primary.diary(journal, configuration)
    }

    private func restarted(at address: PrimaryAddress) async throws -> Primary<Diary> {
        let primary = try primary(at: address)
        try await primary.startOnceItsPortsAreFree()
        return primary
    }

    private func file() throws -> SessionFile { try SessionFile(at: folder.path + "/session", store: "diary") }

    private func sender(_ file: SessionFile, from endpoint: String) throws -> ActionSender {
        try ActionSender(store: "diary", from: endpoint, session: file, configuration: .quick).started()
    }

    @Test func `A sender with a session file leaves unsent actions to the next sender`() async throws {
        let first = try primary()
        let address = try await first.start()
        let one = try sender(try file(), from: address.publish)
        for number in 1...3 { try await one.send(Written(line: "\(number)")) }
        await first.stop()
        var pending: [PendingReceipt] = []
        for number in UInt64(4)...6 {
            pending.append(try await one.submit(Written(line: "\(number)"), position: number))
        }
        await one.close()
        for receipt in pending {
            let rejection = await #expect(throws: Rejection.self) { try await receipt.receipt() }
            #expect(rejection?.code == .kept)
        }

        let kept = try file()
        #expect(kept.position == 6)
        #expect(kept.outstandingCount == 3)
        let two = try sender(kept, from: address.publish)
        #expect(two.resumed.map(\.name) == Array(repeating: Written.name, count: 3))
        #expect(two.resumed.map(\.position) == [4, 5, 6])
        let late = try await two.submit(Written(line: "7"))
        let second = try await restarted(at: address)
        let revisions = try await two.resumed.asyncMap { try await $0.receipt.receipt().revision.rawValue }
        #expect(revisions == [4, 5, 6])
        #expect(try await late.receipt().number == ActionNumber(7))
        await two.close()
        #expect(try file().outstandingCount == 0)
        await second.stop()
        #expect(second.state.lines == (1...7).map { "\($0)" })
    }

    @Test func `A sender with a session file sends an action although its caller no longer waits`() async throws {
        let first = try primary()
        let address = try await first.start()
        await first.stop()
        let sender = try sender(try file(), from: address.publish)
        let rejection = await #expect(throws: Rejection.self) {
            try await sender.send(Written(line: "1"), timeout: .milliseconds(1))
        }
        #expect(rejection?.code == .kept)
        let second = try await restarted(at: address)
        try await sender.send(Written(line: "2"))
        await sender.close()
        await second.stop()
        #expect(second.state.lines == ["1", "2"])
    }

    /// PROTOCOL.md (section 8.4), OPERATING.md and TUTORIAL.md warn of it. The lock does not protect a copy. If the
    /// primary is asked again in between, the copy notices the other sender, and begins a new session: then another
    /// copy is taken.
    @Test func `A copy of a session file in use gets a receipt for an action that was never applied`() async throws {
        let primary = try primary()
        let address = try await primary.start()
        let one = try sender(try file(), from: address.publish)
        try await one.send(Written(line: "1"))
        var (lines, isTaken) = (["1"], false)
        while !isTaken {
            let two = try sender(try copied(), from: address.publish)
            for await status in two.statuses where status == .open { break }
            let first = try await one.send(Written(line: "one"))
            let second = try await two.send(Written(line: "two"))
            await two.close()
            isTaken = first.session == second.session
            if isTaken { #expect(first == second) }
            lines += isTaken ? ["one"] : ["one", "two"]
        }
        await one.close()
        await primary.stop()
        #expect(primary.state.lines == lines)
    }

    /// A copy of the session file. One that was taken in the middle of a write is damaged, and is taken again.
    private func copied() throws -> SessionFile {
        let path = folder.path + "/copy"
        while true {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: folder.path + "/session", toPath: path)
            let copy = Result { try SessionFile(at: path, store: "diary") }
            guard case .failure(let error) = copy, "\(error)".contains("is damaged") else { return try copy.get() }
        }
    }

    @Test func `A sender with a session file sends no action that it cannot save`() async throws {
        let primary = try primary()
        let address = try await primary.start()
        let file = try file()
        let sender = try sender(file, from: address.publish)
        try await sender.send(Written(line: "1"))
        file.close()
        let rejection = await #expect(throws: Rejection.self) { try await sender.send(Written(line: "2")) }
        #expect(rejection?.code == .notSent)
        await primary.stop()
        #expect(primary.state.lines == ["1"])
    }
}

extension Array {
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var mapped: [T] = []
        for element in self { mapped.append(try await transform(element)) }
        return mapped
    }
}
