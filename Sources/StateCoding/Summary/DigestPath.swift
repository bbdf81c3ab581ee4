/// FNV-1a, 64 bits: a hash that anyone can write down, and that goes on from any prefix.
struct FNV1a: Equatable {
    private(set) var state: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte) }
    }

    /// The state, its bits mixed (the finaliser of MurmurHash3), so that sums of similar inputs do not cancel.
    var mixed: UInt64 {
        var hash = state
        hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ (hash >> 33)
    }
}

/// The way from the root to a node, hashed: see `Summary` for the bytes.
struct DigestPath: Equatable {
    private(set) var hash = FNV1a()

    static let root = DigestPath()

    /// The entry of a map under a canonical key.
    func key(_ key: Value) -> DigestPath { step(0x4B, key.encoded) }

    /// The element of an array.
    func index(_ index: Int) -> DigestPath { step(0x49, Value(index).encoded) }

    /// The hash of a leaf at the end of the way.
    func leaf(_ bytes: some Sequence<UInt8>) -> UInt64 { step(0x56, bytes).hash.mixed }

    func step(_ mark: UInt8, _ bytes: some Sequence<UInt8>) -> DigestPath {
        var next = self
        next.hash.combine(mark)
        next.hash.combine(bytes)
        return next
    }
}
