/// Picks rows at random, and the same ones in each run.
package struct RowPicker: RandomNumberGenerator {
    private var state: UInt64 = 20_260_724
    private let rows: Int

    /// - Parameter rows: how many there are to pick from.
    package init(rows: Int) {
        self.rows = rows
    }

    package mutating func pick() -> Int { Int.random(in: 0..<rows, using: &self) }

    /// xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016.
    package mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }
}
