import CodingSubjects

/// Single values: actions, as they are sent, and a record.
func values() {
    compareCoders("action", count: 1_000) { StepChangeRequested(step: 7) }
    compareCoders("enum action", count: 1_000) { FleetAction.loadChanged(load: 4_711) }
    compareCoders("record", count: 200) { Vehicle(number: 4_712) }
}
