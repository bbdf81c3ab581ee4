import Logging
import StatecastCoding
import StatecastProtocol
import Testing

@testable import Statecast

@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct DocumentTests {
    private let first = Lineage(bits: 1)
    private let second = Lineage(bits: 2)

    @Test func `a snapshot of another history replaces a patch that did not fit, in the same batch`()
        async throws
    {
        try await Gatekeeper.exclusively { gate in
            let primary = try await RawPrimary(store: "raw")
            let replica = try Replica<Value>(
                store: "raw",
                from: primary.endpoint,
                configuration: .quick,
                logger: Logger(label: "test"),
                content: GatedContent(UntypedContent(), gate: gate)
            ).started()
            try await primary.welcome(to: first, at: Revision(1), ["n": 1])
            try await replica.reached(Position(lineage: first, epoch: Epoch(1), revision: Revision(1)))

            // The document is blocked by the second state while the other steps are enqueued. That state is too large
            // for the replica's loop, which would be blocked, too.
            gate.close()
            let large = Value.text(String(repeating: "n", count: 20_000))
            try await primary.publish(.update(update(to: 2, Patch(from: ["n": 1], to: ["n": large]))), on: .feed)
            await gate.someoneWaits()
            try await primary.publish(
                .update(update(to: 3, Patch(from: ["m": ["x": 1]], to: ["m": ["x": 2]]))),
                on: .feed
            )
            let heartbeat = Heartbeat(
                lineage: second,
                epoch: Epoch(1),
                head: Revision(7),
                digest: 0,
                time: Timestamp(milliseconds: 0)
            )
            try await primary.publish(.heartbeat(heartbeat), on: .feed)
            try await primary.welcome(to: second, at: Revision(7), ["n": 7])
            gate.open()
            try await replica.reached(Position(lineage: second, epoch: Epoch(1), revision: Revision(7)))
            #expect(replica.snapshot?.state == ["n": 7])
        }
    }

    private func update(to revision: UInt64, _ patch: Patch) -> Update {
        Update(
            lineage: first,
            epoch: Epoch(1),
            from: Revision(revision - 1),
            to: Revision(revision),
            patch: patch.encode()
        )
    }
}

/// Patches that are merged, and applied as one.
@Suite struct `A document with pending patches` {
    private let lineage = Lineage(bits: 1)

    private func position(_ revision: UInt64) -> Position {
        Position(lineage: lineage, epoch: Epoch(1), revision: Revision(revision))
    }

    private func document(with state: Value) throws -> Document<Value> {
        var document = Document(UntypedContent(), maxBytes: .max)
        try document.process(.install(snapshot: state.encoded, position(0), digest: Summary(of: state).digest))
        return document
    }

    private func patch(_ wire: Value) -> [UInt8] { wire.encoded }

    @Test func `A document with pending patches shows the state after all patches, and its digest`() throws {
        var document = try document(with: ["log": [0, 1, 2], "rows": [:], "n": 0])
        let count: UInt64 = 5000
        for number in 1...count {
            let changes: Value = [
                "log": [[0, 1, []], [2, 0, [.unsigned(number)]]],
                "rows": .map([.unsigned(number * 7919 % 512): [.unsigned(number)]]),
                "n": [.unsigned(number)],
            ]
            try document.process(.apply(patch: patch(changes), position(number)))
        }
        var rows = ValueMap()
        for number in 1...count { rows[.unsigned(number * 7919 % 512)] = .unsigned(number) }
        let state: Value = [
            "log": .array((count - 2...count).map { .unsigned($0) }), "rows": .map(rows), "n": .unsigned(count),
        ]
        try document.process(.verify(position(count), digest: Summary(of: state).digest))
        try document.applyPending()
        #expect(try document.snapshot()?.state == state)
        #expect(document.position == position(count))
    }

    @Test func `A document with pending patches drops them when a snapshot arrives`() throws {
        var document = try document(with: ["n": 0])
        try document.process(.apply(patch: patch(["n": [1]]), position(1)))
        let other: Value = ["m": 7]
        try document.process(.install(snapshot: other.encoded, position(5), digest: Summary(of: other).digest))
        try document.applyPending()
        #expect(try document.snapshot()?.state == other)
    }

    @Test func `A document with pending patches ignores patches after one that cannot be decoded or applied`() throws {
        for wire in [7, ["absent": ["x": [1]]]] as [Value] {
            var document = try document(with: ["n": 0])
            try document.process(.apply(patch: patch(["n": [1]]), position(1)))
            #expect(throws: DocumentFailure.self) {
                try document.process(.apply(patch: patch(wire), position(2)))
                try document.applyPending()
            }
            try document.process(.apply(patch: patch(["n": [3]]), position(3)))
            try document.applyPending()
            #expect(document.position == nil)
            #expect(try document.snapshot() == nil)
        }
    }
}

/// The comparison with the primary's digest, which runs apart from the document.
@Suite struct `The verification of a document` {
    struct Counter: Codable, Equatable, Sendable { var count = 0 }

    private func position(_ revision: Int) -> Position {
        Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(UInt64(revision)))
    }

    private func digest(_ count: Int) throws -> UInt64 {
        try Summary(ofEncoded: StateEncoder().encode(Counter(count: count))).digest
    }

    private func install(_ count: Int, in document: inout Document<Counter>) throws {
        let snapshot = try StateEncoder().encode(Counter(count: count))
        try document.process(.install(snapshot: snapshot, position(count), digest: digest(count)))
    }

    private func apply(_ count: Int, to document: inout Document<Counter>) throws {
        let patch = Patch(from: ["count": Value(count - 1)], to: ["count": Value(count)])
        try document.process(.apply(patch: patch.encode(), position(count)))
    }

    private func document() throws -> Document<Counter> {
        var document = Document(TypedContent<Counter>(), maxBytes: 1000)
        try install(1, in: &document)
        try apply(2, to: &document)
        return document
    }

    private func takeVerification(of document: inout Document<Counter>) throws -> DocumentVerification {
        let verification = document.takeVerification()
        return try #require(verification)
    }

    @Test func `The verification of a document confirms the state at its position, while patches go on`() throws {
        var document = try document()
        for count in 2..<10 {
            try document.process(.verify(position(count), digest: digest(count)))
            let verification = try takeVerification(of: &document)
            try apply(count + 1, to: &document)
            try document.process(.verify(position(count + 1), digest: 0))
            let second = document.takeVerification()
            #expect(second == nil, "one at a time")
            try document.process(verification.run())
            #expect(document.confirmed == position(count))
            try document.applyPending()
            #expect(try document.snapshot()?.state == Counter(count: count + 1))
        }
    }

    @Test
    func `The verification of a document fails a document with another digest, whatever was applied since`() throws {
        var document = try document()
        try document.process(.verify(position(2), digest: digest(7)))
        let verification = try takeVerification(of: &document)
        try apply(3, to: &document)
        let failure = #expect(throws: DocumentFailure.self) { try document.process(verification.run()) }
        #expect(failure?.position == position(2))
        #expect(failure?.reason.message.contains("differs from the primary's") == true)
        #expect(document.position == nil)
        #expect(document.confirmed == nil)
    }

    @Test func `The verification of a document does not concern a later snapshot`() throws {
        var document = try document()
        try document.process(.verify(position(2), digest: digest(7)))
        let verification = try takeVerification(of: &document)
        try install(5, in: &document)
        try document.process(verification.run())
        #expect(document.position == position(5))
        try document.process(.verify(position(5), digest: digest(5)))
        try document.process(takeVerification(of: &document).run())
        #expect(document.confirmed == position(5))
    }
}

/// A state that grows by updates has the same bound as a snapshot.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `The size of a replica's state` {
    private static func position(_ revision: UInt64) -> Position {
        Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(revision))
    }

    /// A blob whose encoding has `bytes` bytes.
    private static func blob(bytes: Int) throws -> Blob {
        var blob = Blob()
        let rest = try bytes - StateEncoder().encode(Blob(text: String(repeating: "a", count: 300))).count
        blob.text = String(repeating: "a", count: 300 + rest)
        #expect(try StateEncoder().encode(blob).count == bytes)
        return blob
    }

    /// Installs a small state, and grows it to each of the sizes in turn.
    private func grow<Content: DocumentContent>(_ content: Content, to bytes: [Int], maxBytes: Int) throws -> Position?
    {
        var old = try Self.blob(bytes: 400)
        var document = Document(content, maxBytes: maxBytes)
        let snapshot = try StateEncoder().encode(old)
        let digest = try Summary(ofEncoded: snapshot).digest
        try document.process(.install(snapshot: snapshot, Self.position(0), digest: digest))
        for (index, bytes) in bytes.enumerated() {
            let new = try Self.blob(bytes: bytes)
            let patch = try Differ.patch(from: old, to: new).patch.encode()
            try document.process(.apply(patch: patch, Self.position(UInt64(index) + 1)))
            try document.applyPending()
            old = new
        }
        return document.position
    }

    @Test func `The size of a replica's state has the same bound as a snapshot, to the byte`() throws {
        func check(_ content: some DocumentContent) throws {
            #expect(try grow(content, to: [600, 800, 1000, 500, 1000], maxBytes: 1000) == Self.position(5))
            let failure = #expect(throws: DocumentFailure.self) {
                try grow(content, to: [600, 800, 1001], maxBytes: 1000)
            }
            #expect(failure?.position == Self.position(3))
            #expect(failure?.reason.code == .incompatible)
            #expect(failure?.reason.message.contains("1001 bytes, more than the 1000") == true)
        }
        try check(TypedContent<Blob>())
        try check(DecodedContent<Blob>())
        try check(UntypedContent())
    }

    @Test func `The size of a replica's state is measured even if the type adds much to a small patch`() throws {
        /// Rows have a default of 1,000 bytes.
        struct Rows: Codable, Sendable {
            var rows: [String: Row] = [:]
            struct Row: Codable, Sendable {
                var text = String(repeating: "r", count: 1000)
                init() {}
                init(from decoder: any Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    text = try container.decodeIfPresent(String.self, forKey: .text) ?? Row().text
                }
            }
        }
        var document = Document(TypedContent<Rows>(), maxBytes: 1 << 20)
        let snapshot = try StateEncoder().encode(Rows())
        let digest = try Summary(ofEncoded: snapshot).digest
        try document.process(.install(snapshot: snapshot, Self.position(0), digest: digest))
        var tree: Value = ["rows": .map(ValueMap())]
        var revision: UInt64 = 0
        #expect(throws: DocumentFailure.self) {
            // Some bytes for each row, of which there are far more than fit.
            while revision < 1000 {
                revision += 1
                var next = tree
                for row in 0..<50 { next["rows"]?["\(revision).\(row)"] = .map(ValueMap()) }
                let patch = Patch(from: tree, to: next).encode()
                try document.process(.apply(patch: patch, Self.position(revision)))
                try document.applyPending()
                tree = next
            }
        }
        #expect(revision < 500)
    }

    @Test func `The size of a replica's state ends a replica whose primary exceeds it`() async throws {
        try await withBlob { address in
            var configuration = ReplicaConfiguration.quick
            configuration.limits.maxSnapshotBytes = 20_000
            let replica = try Replica<Blob>(store: "blob", from: address.publish, configuration: configuration)
                .started()
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick).started()
            try await replica.reached(try await sender.send(PartAdded(name: "first", letters: 9000)))
            try await replica.reached(try await sender.send(PartAdded(name: "second", letters: 9000)))
            let receipt = try await sender.send(PartAdded(name: "third", letters: 9000))
            let rejection = await #expect(throws: Rejection.self) { try await replica.reached(receipt) }
            #expect(rejection?.code == .incompatible)
            #expect(replica.snapshot?.state.parts.count == 2)
            await replica.close()
            await sender.close()
        }
    }
}
