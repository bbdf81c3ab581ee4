import Journal
import StatecastTesting
import Testing

@Suite struct `Verifying a journal` {
    private final class Places {
        private var journals: [String: MemoryJournal] = [:]

        subscript(_ place: String) -> MemoryJournal {
            let journal = journals[place] ?? MemoryJournal()
            journals[place] = journal
            return journal
        }
    }

    @Test func `passes one that keeps its promises`() {
        let places = Places()
        verifyJournal { place in places[place] }
    }

    @Test(
        arguments: [
            (.losesLast, ["keeps what was appended, in order: the last one, opened again", "keeps so much history"]),
            (.losesEpochs, ["keeps the epochs that were claimed, in order: epochs()"]),
            (.swapsRecords, ["keeps what was appended", "in pieces", "so much history", "while others are appended"]),
            (.tooMany, ["in pieces, at least one at a time: records(after: 0, bytesMax: 1)"]),
            (.wrongRevision, ["finds the record that leads to a revision: sequence(at: 2)", "so much history"]),
            (
                .prunesAll,
                ["keeps so much history as is asked for, and two snapshots: the snapshots that lead to 2,500 bytes"]
            ),
            (.prunesNothing, ["so much history", "while others are appended"]),
            (.anyCode, ["a record that is gone: expected a JournalFailure with code pruned, got: record 20"]),
            (
                .shared,
                ["is one primary's at a time: open() of a second one: expected a JournalFailure with code in-use"]
            ),
            (.forgetful, ["remembers which action ends its primary: whether it is poison"]),
            (.keepsInterim, ["replaces an interim snapshot by the next one: the snapshots, with an interim one"]),
        ] as [(BentJournal.Flaw, [String])]
    )
    func `tells each promise that is broken`(flaw: BentJournal.Flaw, fragments: [String]) async {
        await expectIssues(fragments) {
            let places = Places()
            // Each one opened has notes of its own, where those are forgotten.
            verifyJournal { place in BentJournal(places[place], flaw) }
        }
    }

    @Test func `tells what cannot be opened`() async {
        await expectIssues(Array(repeating: "the disk is gone", count: 10)) {
            verifyJournal { _ in throw JournalFailure(.inputOutput, "the disk is gone") }
        }
    }
}
