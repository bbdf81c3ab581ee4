import StatecastJournal
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

    @Test func `Verifying a journal passes a journal that keeps its promises`() {
        let places = Places()
        verifyJournal { place in places[place] }
    }

    @Test(
        arguments: [
            (
                .losesLast,
                ["keeps appended records in order: the last one, opened again", "keeps the requested history"]
            ),
            (.losesEpochs, ["keeps the claimed epochs in order: epochs()"]),
            (
                .swapsRecords,
                ["keeps appended records", "in pieces", "the requested history", "while others are appended"]
            ),
            (.tooMany, ["in pieces, at least one at a time: records(after: 0, maxBytes: 1)"]),
            (
                .prunesAll,
                ["keeps the requested history, and two snapshots: the snapshots that lead to 2,500 bytes"]
            ),
            (.prunesNothing, ["the requested history", "while others are appended"]),
            (.anyCode, ["a pruned record: expected a JournalFailure with code pruned, got: record 20"]),
            (
                .shared,
                ["serves one primary at a time: open() of a second one: expected a JournalFailure with code in-use"]
            ),
            (.forgetful, ["remembers the action that crashes its primary: whether an action is poison"]),
            (.keepsInterim, ["replaces an interim snapshot with the next one: the snapshots, with an interim one"]),
        ] as [(FlawedJournal.Flaw, [String])]
    )
    func `Verifying a journal reports each broken promise`(flaw: FlawedJournal.Flaw, fragments: [String]) async {
        await expectIssues(fragments) {
            let places = Places()
            // Each journal has its own reduction notes, for the flaw that forgets them.
            verifyJournal { place in FlawedJournal(places[place], flaw) }
        }
    }

    @Test func `Verifying a journal reports a journal that cannot be opened`() async {
        await expectIssues(Array(repeating: "the disk is gone", count: 9)) {
            verifyJournal { _ in throw JournalFailure(.inputOutput, "the disk is gone") }
        }
    }
}
