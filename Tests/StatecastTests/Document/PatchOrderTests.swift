import Logging
import StatecastCoding
import StatecastProtocol
import StatecastThreading
import Testing

@testable import Statecast

/// A replica applies small patches on its loop, and large ones off it.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `Small and large patches` {
    @Test func `Small and large patches are applied in their order`() async throws {
        try await Gatekeeper.exclusively { gate in
            try await withBlob { address in
                let replica = try Replica<Blob>(
                    store: "blob",
                    from: address.publish,
                    configuration: .quick,
                    logger: Logger(label: "test"),
                    content: GatedContent(TypedContent(), gate: gate)
                ).started()
                let sender = try ActionSender(store: "blob", from: address.publish).started()
                try await replica.reached(try await sender.send(BlobWritten(letters: 1)))
                for round in 1...20 {
                    // While the large patch occupies the document, the loop receives small ones.
                    gate.close()
                    _ = try await sender.send(BlobWritten(letters: 40_000))
                    await gate.someoneWaits()
                    for letters in 2...4 { _ = try await sender.send(BlobWritten(letters: letters)) }
                    let last = try await sender.send(BlobWritten(letters: 5))
                    #expect(try #require(replica.snapshot).state.text.count < 6)
                    gate.open()
                    try await replica.reached(last)
                    let shown = try #require(replica.snapshot).state
                    #expect(shown.writes == 1 + 5 * round)
                    #expect(shown.text.count == 5)
                }
            }
        }
    }

    @Test func `Small and large patches are applied on the loop if they are small, otherwise off it`() async throws {
        let threads = ThreadLog()
        try await withBlob { address in
            let replica = try Replica<Blob>(
                store: "blob",
                from: address.publish,
                configuration: .quick,
                logger: Logger(label: "test") { _ in LoopFinder(threads: threads) },
                content: ObservedContent(content: TypedContent(), threads: threads)
            ).started()
            let sender = try ActionSender(store: "blob", from: address.publish).started()
            // A small patch is applied off the loop as well if the one before took long, as on a busy machine.
            while threads.smallOnLoop == 0 {
                try await replica.reached(try await sender.send(BlobWritten(letters: 10)))
            }
            for _ in 0..<20 { try await replica.reached(try await sender.send(BlobWritten(letters: 40_000))) }
            #expect(threads.largeOnLoop == 0)
        }
    }

    @Test func `Small and large patches are judged by their size, and by the duration of the last ones`() throws {
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(1))
        func batch(_ steps: DocumentStep...) -> DocumentQueue.Batch {
            DocumentQueue.Batch(steps: steps, bytes: steps.reduce(0) { $0 + $1.bytes })
        }
        let small = DocumentStep.apply(patch: [1], position)
        let half = DocumentStep.apply(patch: [UInt8](repeating: 0, count: 8 << 10), position)
        var pace = DocumentPace()
        #expect(pace.isQuick(batch(small, .status(.live), half)))
        #expect(!pace.isQuick(batch(half, half)))
        #expect(pace.isQuick(batch(small, .verify(position, digest: 0))))
        #expect(!pace.isQuick(batch(.install(snapshot: [1], position, digest: 0))))
        pace.showed(in: .microseconds(900))
        #expect(pace.isQuick(batch(small)))
        pace.showed(in: .milliseconds(3))
        #expect(!pace.isQuick(batch(small)))
        pace.showed(in: .microseconds(10))
        #expect(!pace.isQuick(batch(small)), "every other batch may be slow")
        pace.showed(in: .microseconds(10))
        #expect(pace.isQuick(batch(small)))
    }
}

/// The threads on which patches are applied, and that of the replica's loop.
private final class ThreadLog: Sendable {
    private struct Storage {
        var loop: UInt?
        var small: [UInt] = []
        var large: [UInt] = []
    }

    private let storage = Locked(Storage())

    func foundLoop() { storage.withLock { $0.loop = Threads.currentID } }

    func applied(bytes: Int) {
        storage.withLock { storage in
            if bytes > 20_000 {
                storage.large.append(Threads.currentID)
            } else {
                storage.small.append(Threads.currentID)
            }
        }
    }

    var smallOnLoop: Int { storage.withLock { storage in storage.small.count { $0 == storage.loop } } }
    var largeOnLoop: Int { storage.withLock { storage in storage.large.count { $0 == storage.loop } } }
}

/// Finds the loop's thread: a replica logs its status there.
private struct LoopFinder: LogHandler {
    let threads: ThreadLog
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    init(threads: ThreadLog) { self.threads = threads }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { threads.foundLoop() }
}

private struct ObservedContent: DocumentContent {
    var content: TypedContent<Blob>
    let threads: ThreadLog

    mutating func install(_ snapshot: [UInt8]) throws { try content.install(snapshot) }
    mutating func summary() throws -> Summary { try content.summary() }
    func state() throws -> Blob { try content.state() }

    mutating func apply(_ patch: Patch) throws {
        threads.applied(bytes: patch.encode().count)
        try content.apply(patch)
    }
}
