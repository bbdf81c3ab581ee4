package import StateCoding

/// What a primary does for each change, but for its network and its journal.
package struct PrimaryRole<Rows: VehicleRows> {
    package private(set) var state: World<Rows>
    /// From where the run began: only changes of it are compared.
    package private(set) var summary = Summary(digest: 0, bytes: 0)
    /// As a primary keeps the last durable state.
    private var old: World<Rows>
    private var picker: RowPicker

    package init(_ state: World<Rows>) {
        self.state = state
        old = state
        picker = RowPicker(rows: state.rows.count)
    }

    /// The reducer's part: one field of one row.
    package mutating func reduce() {
        old = state
        state.changeRow(picker.pick())
    }

    /// The patch of what was reduced last, in bytes.
    package mutating func publish() throws(CodingFailure) -> [UInt8] {
        let difference = try Differ.patch(from: old, to: state)
        summary.advance(by: difference)
        return difference.patch.encode()
    }
}
