import Foundation
import StatecastCoding
import Testing

/// CBOR that another implementation wrote (Python's cbor2): see scripts/make-cbor-fixtures.
@Suite struct `CBOR written by another implementation` {
    struct Fixture: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var python: String
        var cbor2: String
        var deterministic: String
        var others: [String]

        var testDescription: String { "\(name): \(python)" }
    }

    private struct File: Decodable {
        var fixtures: [Fixture]
    }

    /// Read by Foundation, not by the code under test.
    static let fixtures: [Fixture] = {
        guard let data = try? Data(contentsOf: fixtureFile("cbor2.json")) else { return [] }
        return (try? JSONDecoder().decode(File.self, from: data))?.fixtures ?? []
    }()

    @Test func `CBOR written by another implementation exists`() {
        #expect(Self.fixtures.count > 300)
    }

    @Test(arguments: fixtures)
    func `CBOR written by another implementation is read in any form, and written in the deterministic form`(
        fixture: Fixture
    ) throws {
        for hex in [fixture.cbor2, fixture.deterministic] + fixture.others {
            let value = try Value(decoding: bytes(hex))
            #expect(value.encoded == bytes(fixture.deterministic), "from \(hex)")
        }
    }
}

func fixtureFile(_ name: String, here: String = #filePath) -> URL {
    URL(filePath: here).deletingLastPathComponent().appending(path: "Fixtures").appending(path: name)
}
