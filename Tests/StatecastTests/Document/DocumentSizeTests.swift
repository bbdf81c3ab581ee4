import StateCoding
import SyncProtocol
import Testing

@testable import Statecast

/// A state that updates let grow is bounded as one that comes in a snapshot is.
@Suite(.timeLimit(.minutes(10))) struct `The size of a replica's state` {
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
    private func grow<Content: DocumentContent>(_ content: Content, to bytes: [Int], bytesMax: Int) throws -> Position?
    {
        var old = try Self.blob(bytes: 400)
        var document = Document(content, bytesMax: bytesMax)
        let snapshot = try StateEncoder().encode(old)
        let digest = try Summary(ofEncoded: snapshot).digest
        try document.take(.install(snapshot: snapshot, Self.position(0), digest: digest))
        for (index, bytes) in bytes.enumerated() {
            let new = try Self.blob(bytes: bytes)
            let patch = try Differ.patch(from: old, to: new).patch.encode()
            try document.take(.apply(patch: patch, Self.position(UInt64(index) + 1)))
            try document.settle()
            old = new
        }
        return document.position
    }

    @Test func `may be what it may be in a snapshot, and no byte more`() throws {
        func check(_ content: some DocumentContent) throws {
            #expect(try grow(content, to: [600, 800, 1000, 500, 1000], bytesMax: 1000) == Self.position(5))
            let failure = #expect(throws: DocumentFailure.self) {
                try grow(content, to: [600, 800, 1001], bytesMax: 1000)
            }
            #expect(failure?.position == Self.position(3))
            #expect(failure?.reason.code == .incompatible)
            #expect(failure?.reason.message.contains("1001 bytes, more than the 1000") == true)
        }
        try check(TypedContent<Blob>())
        try check(DecodedContent<Blob>())
        try check(UntypedContent())
    }

    @Test func `is noticed also where a type makes much of little`() throws {
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
        var document = Document(TypedContent<Rows>(), bytesMax: 1 << 20)
        let snapshot = try StateEncoder().encode(Rows())
        let digest = try Summary(ofEncoded: snapshot).digest
        try document.take(.install(snapshot: snapshot, Self.position(0), digest: digest))
        var tree: Value = ["rows": .map(ValueMap())]
        var revision: UInt64 = 0
        #expect(throws: DocumentFailure.self) {
            // Some bytes for each row, of which there are far more than fit.
            while revision < 1000 {
                revision += 1
                var next = tree
                for row in 0..<50 { next["rows"]?["\(revision).\(row)"] = .map(ValueMap()) }
                let patch = Patch(from: tree, to: next).encode()
                try document.take(.apply(patch: patch, Self.position(revision)))
                try document.settle()
                tree = next
            }
        }
        #expect(revision < 500)
    }

    @Test func `ends the following of a primary that lets it grow further`() async throws {
        try await withBlob { address in
            var configuration = ReplicaConfiguration.quick
            configuration.limits.snapshotBytesMax = 20_000
            let replica = try Replica<Blob>(store: "blob", from: address.publish, configuration: configuration)
            let sender = try ActionSender(store: "blob", from: address.publish, configuration: .quick)
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
