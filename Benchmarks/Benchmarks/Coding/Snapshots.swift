import CodingSubjects
import StateCoding

/// The whole of a large state.
func snapshots() {
    compareCoders("snapshot, array", count: 1, duration: .seconds(8)) { [Vehicle](count: snapshotRows) }
    // As Foundation has no table, its JSON of a dictionary is what a table is compared with.
    compareCoders(
        "snapshot, table",
        count: 1,
        duration: .seconds(8),
        json: { [String: Vehicle](count: snapshotRows) },
        { Table<String, Vehicle>(count: snapshotRows) }
    )
}
