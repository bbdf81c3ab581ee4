import StatecastCoding
import Testing

@Suite struct `A summary` {
    /// Computed from the description alone, independently of the implementation.
    private func hash(_ hex: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes(hex) {
            hash = (hash ^ UInt64(byte)).multipliedReportingOverflow(by: 0x100_0000_01b3).partialValue
        }
        hash ^= hash >> 33
        hash = hash.multipliedReportingOverflow(by: 0xff51_afd7_ed55_8ccd).partialValue
        hash ^= hash >> 33
        hash = hash.multipliedReportingOverflow(by: 0xc4ce_b9fe_1a85_ec53).partialValue
        return hash ^ hash >> 33
    }

    @Test func `A summary is the sum over the leaves, as described`() {
        #expect(Summary(of: 1) == Summary(digest: hash("56 01"), bytes: 1))
        #expect(Summary(of: [:]).digest == hash("56 a0"))
        let value: Value = ["a": [true, []], 5: .tagged(1, [2])]
        let leaves = ["4b6161 4900 56f5", "4b6161 4901 5680", "4b05 56c18102"]
        #expect(Summary(of: value).digest == leaves.map(hash).reduce(0, &+))
        #expect(Summary(of: value).bytes == value.encoded.count)
    }

    @Test func `A summary of a given value is a given number`() {
        #expect(Summary(of: ["a": 1]) == Summary(digest: 0x1D18_8160_034E_6EB0, bytes: 4))
    }

    @Test func `A summary distinguishes maps from arrays, orders, and empty collections`() {
        let values: [Value] = [
            [0: "a"], ["a"], [], [:], .null, ["a", "b"], ["b", "a"], [[]], [[:]], ["a": []], ["a": [:]],
        ]
        #expect(Set(values.map { Summary(of: $0).digest }).count == values.count)
    }

    @Test func `A summary is the same for values that are equal`() {
        #expect(Summary(of: [-0.0]) == Summary(of: [0.0]))
        #expect(Summary(of: .float(-.nan)) == Summary(of: .float(.nan)))
        #expect(Summary(of: ["cafe\u{301}": "cafe\u{301}"]) == Summary(of: ["caf\u{E9}": "caf\u{E9}"]))
        #expect(Summary(of: .tagged(1, "cafe\u{301}")) == Summary(of: .tagged(1, "caf\u{E9}")))
    }
}
