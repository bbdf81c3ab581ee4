import Testing

@testable import StatecastJournal

@Suite struct ChecksumTests {
    /// RFC 3720, appendix B.4.
    @Test(
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            ([UInt8](0..<32), 0x46DD_794E),
            ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
            (Array("123456789".utf8), 0xE306_9283),
        ] as [([UInt8], UInt32)]
    )
    func `the checksum is CRC-32C`(bytes: [UInt8], expected: UInt32) {
        #expect(Checksum.of(bytes) == expected)
        // Processors without an instruction for it.
        #expect(bytes.withUnsafeBytes { ~Checksum.remainder(.max, $0) } == expected)
    }

    @Test func `the checksum is independent of how the bytes are divided`() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var whole = Checksum()
        whole.combine(bytes)
        for cut in 0...bytes.count {
            var parts = Checksum()
            parts.combine(bytes[..<cut])
            parts.combine(bytes[cut...])
            #expect(parts == whole)
        }
    }
}
