import CodingSubjects
import StateCoding

// Prints what is counted, not timed, and is the same in each run: a line for each count, its kind, its name and the
// count, with tabs between them. Hashing must not be seeded at random: SWIFT_DETERMINISTIC_HASHING=1.

AllocationCount.checkThatItCounts()

try coding("action", StepChangeRequested(step: 7))
try coding("enum action", FleetAction.loadChanged(load: 4_711))
try coding("record", Vehicle(number: 4_712))
try following("one row of 100,000", World(rows: Table<String, Vehicle>(count: 100_000)))
