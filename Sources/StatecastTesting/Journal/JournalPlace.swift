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
}
