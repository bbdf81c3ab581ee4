package import StatecastCoding

/// A primary's work for each change, without network and journal.
package struct PrimaryRole<Rows: VehicleRows> {
    package private(set) var state: World<Rows>
    /// Starts at zero, because only its changes are compared.
    package private(set) var summary = Summary(digest: 0, bytes: 0)
    /// The last durable state.
    private var old: World<Rows>
    private var picker: RowPicker

    package init(_ state: World<Rows>) {
        self.state = state
        old = state
        picker = RowPicker(rows: state.rows.count)
    }

    /// Changes one field of one row, as a reducer.
    package mutating func reduce() {
        old = state
        state.changeRow(picker.pick())
    }

    /// The encoded patch of the last change.
    package mutating func publish() throws(CodingFailure) -> [UInt8] {
        let difference = try Differ.patch(from: old, to: state)
        summary.advance(by: difference)
        return difference.patch.encode()
    }
}

/// A replica's work for each update, without network.
package struct ReplicaRole<Rows: VehicleRows> {
    package private(set) var state: World<Rows>
    /// Starts at zero, because only its changes are compared.
    package private(set) var summary = Summary(digest: 0, bytes: 0)
    /// The last state that an observer received.
    private var old: World<Rows>

    package init(_ state: World<Rows>) {
        self.state = state
        old = state
    }

    package mutating func apply(_ patch: [UInt8]) throws(CodingFailure) {
        try Patch(decoding: patch).apply(to: &state)
    }

    /// Updates the digest.
    package mutating func digest() throws(CodingFailure) {
        summary.advance(by: try Differ.patch(from: old, to: state))
    }

    /// Delivers the state to the observer.
    package mutating func show() {
        old = state
    }
}

/// Picks rows at random, the same ones in each run.
private struct RowPicker: RandomNumberGenerator {
    private var state: UInt64 = 20_260_724
    private let rows: Int

    init(rows: Int) {
        self.rows = rows
    }

    mutating func pick() -> Int { Int.random(in: 0..<rows, using: &self) }

    /// xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016.
    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }
}
