internal import Journal
internal import StateCore
internal import SyncProtocol

extension JournalRule {
    /// Histories, epochs, and who has the journal.
    static let opening = [
        JournalRule(name: "history", promise: "has no history until one is begun, and keeps that") { place in
            for time in ["when new", "opened again"] { try expect("its contents \(time)", try place.reopen(), nil) }
            try place.journal.begin(.sample, from: .sample(0))
            let contents = JournalContents(identity: .sample, epochs: [], last: JournalSequence(0))
            try expect("its contents, begun", try place.reopen(), contents)
            try expect(
                "what can be read",
                try place.journal.everything(),
                Everything(snapshots: [.sample(0)], records: [])
            )
        },
        JournalRule(name: "epochs", promise: "keeps the epochs that were claimed, in order") { place in
            let journal = try place.begin()
            try journal.claim(.sample(1, at: 0))
            try journal.append([.sample(1)])
            try journal.claim(.sample(2, at: 3))
            let epochs: [EpochStart] = [.sample(1, at: 0), .sample(2, at: 3)]
            try expect("epochs()", try journal.epochs(), epochs)
            try expect("the epochs, opened again", try place.reopen()?.epochs, epochs)
        },
        JournalRule(name: "one", promise: "is one primary's at a time") { place in
            _ = try place.begin()
            let second = try place.another()
            try expectFailure("open() of a second one", .inUse) { try second.open() }
            place.leave()
            try expect("its history, when the first has let go", try second.open()?.identity, .sample)
            second.close()
        },
        JournalRule(name: "reductions", promise: "remembers which action ends its primary") { place in
            let session = SessionID(high: 1, low: 2)
            try place.begin().crashMarker.begin(session, ActionNumber(7))
            for count in 1...CrashMarker.crashesMax {
                try place.reopen()
                let crashMarker = try place.journal.crashMarker
                crashMarker.open()
                let isPoison = count == CrashMarker.crashesMax
                let what = "whether it is poison, after \(count) ends while it was reduced"
                try expect(what, crashMarker.isPoison(session, ActionNumber(7)), isPoison)
                crashMarker.begin(session, ActionNumber(7))
            }
        },
    ]
}
