import StatecastCryptography
import Testing

@Suite struct `A digest of 128 bits` {
    /// Made with Python's hashlib: `blake2b(bytes(range(32)), digest_size=16, person=b"test").hexdigest()`.
    @Test func `A digest of 128 bits is BLAKE2b with the domain as its personalization`() {
        let digest = ShortDigest(of: 0..<32, domain: "test")
        #expect(digest.description == "f664-ca7d-cc9e-e54c-94a4-8a16-25ba-2069")
        let empty = ShortDigest(of: [], domain: "sixteen bytes ok")
        #expect(empty.description == "548b-ef9d-4d6f-fcd7-2155-6865-c7b7-c052")
    }

    @Test func `A digest of 128 bits differs between domains`() {
        #expect(ShortDigest(of: [1], domain: "a") != ShortDigest(of: [1], domain: "b"))
        #expect(ShortDigest(of: [1], domain: "a") != ShortDigest(of: [1, 0], domain: "a"))
    }
}
