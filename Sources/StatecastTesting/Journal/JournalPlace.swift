internal import Journal
internal import SyncProtocol

/// A place where a journal is, which can be closed and opened anew.
final class JournalPlace {
    private let name: String
    private let make: (String) throws -> any Journal
    private var current: (any Journal)?

    init(_ name: String, _ make: @escaping (String) throws -> any Journal) {
        self.name = name
        self.make = make
    }

    /// Another one at the same place, as another primary would make it.
    func another() throws -> any Journal { try make(name) }

    /// The journal that is open.
    var journal: any Journal {
        get throws {
            guard let current else { throw JournalSurprise(description: "it could not be opened") }
            return current
        }
    }

    /// Closes the journal that is open, and opens the place anew.
    @discardableResult
    func reopen() throws -> JournalContents? {
        leave()
        let journal = try another()
        let contents = try journal.open()
        current = journal
        return contents
    }

    /// Opens a journal with a history.
    func begin() throws -> any Journal {
        try reopen()
        let journal = try journal
        try journal.begin(.sample, from: .sample(0))
        return journal
    }

    /// Closes the journal.
    func leave() {
        current?.close()
        current = nil
    }

    /// All that can be read, from the oldest snapshot on.
    func everything() throws -> Everything {
        let journal = try journal
        let snapshots = try journal.snapshots()
        var records: [JournalRecord] = []
        var last = snapshots.first?.sequence ?? JournalSequence(0)
        while let end = try journal.records(after: last, bytesMax: 1000).last {
            records += try journal.records(after: last, bytesMax: 1000)
            last = end.sequence
        }
        return Everything(snapshots: try snapshots.map { try journal.snapshot($0) }, records: records)
    }
}

/// What is in a journal.
struct Everything: Equatable {
    let snapshots: [JournalSnapshot]
    let records: [JournalRecord]
}
