public import StatecastJournal
import StatecastProtocol

/// Checks that a journal keeps the promises that a primary relies on, as the documentation of `Journal` defines them.
///
/// - It has no history until `begin`, and keeps that one. After it is reopened, it has all records, epochs and
///   snapshots in order, and its crash marker.
/// - It returns records in pieces of a size, at least one at a time, and finds the record that leads to a revision.
/// - Pruning keeps the requested history, and two snapshots in any case; reading pruned parts fails with code `pruned`.
///   The next snapshot replaces an interim one.
/// - One primary has it at a time; the second one fails with code `in-use`.
/// - It can store snapshots and read records while others are appended.
///
/// It does not check what a journal survives (a crash, damage, a full disk).
///
/// ```swift
/// @Test func `our journal keeps what a primary relies on`() throws {
///     let folder = try TemporaryFolder()
///     verifyJournal { place in OurJournal(at: "\(folder.path)/\(place)") }
/// }
/// ```
///
/// Each broken rule is one issue.
///
/// - Parameter journal: returns a journal at a place, not open yet. The same name is the same place, where another
///   journal may have been closed; a new name is an empty place. It is called with about ten names.
public func verifyJournal(
    fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column,
    _ journal: (_ place: String) throws -> any Journal
) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    for rule in JournalRule.all {
        do {
            try withoutActuallyEscaping(journal) { journal in
                let place = JournalPlace(rule.name, journal)
                defer { place.close() }
                try rule.check(place)
            }
        } catch {
            site.report("Expected a journal that \(rule.promise): \(error)")
        }
    }
}

/// A promise that a primary relies on.
struct JournalRule: Sendable {
    /// The name of the place.
    let name: String
    /// The promise, as the end of a sentence that begins with "a journal that".
    let promise: String
    /// Throws a `JournalMismatch` if the journal breaks the promise.
    let check: @Sendable (JournalPlace) throws -> Void
}

/// An actual value or error that differs from the expected one.
struct JournalMismatch: Error, CustomStringConvertible {
    let description: String
}

/// Throws unless two values are equal.
func expect<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) throws {
    guard actual != expected else { return }
    throw JournalMismatch(description: "\(what):\n\n\(describeDifference(expected: expected, actual: actual))")
}

/// Throws unless `body` fails with a code.
func expectFailure(_ what: String, _ code: JournalFailure.Code, _ body: () throws -> some Any) throws {
    let value: Any
    do {
        value = try body()
    } catch let failure as JournalFailure where failure.code == code {
        return
    } catch {
        throw JournalMismatch(description: "\(what): expected a JournalFailure with code \(code), got: \(error)")
    }
    throw JournalMismatch(description: "\(what): expected a JournalFailure with code \(code), got \(dumped(value))")
}

/// A place whose journal can be closed and reopened.
final class JournalPlace {
    private let name: String
    private let make: (String) throws -> any Journal
    private var current: (any Journal)?

    init(_ name: String, _ make: @escaping (String) throws -> any Journal) {
        self.name = name
        self.make = make
    }

    /// Another journal at the same place, like that of another primary.
    func another() throws -> any Journal { try make(name) }

    /// The open journal.
    var journal: any Journal {
        get throws {
            guard let current else { throw JournalMismatch(description: "it could not be opened") }
            return current
        }
    }

    /// Closes the open journal and opens another one at the place.
    @discardableResult
    func reopen() throws -> JournalContents? {
        close()
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

    func close() {
        current?.close()
        current = nil
    }
}

/// All snapshots and records of a journal.
struct JournalDump: Equatable {
    let snapshots: [JournalSnapshot]
    let records: [JournalRecord]
}

extension JournalReading {
    /// Reads all snapshots and records, from the oldest snapshot on.
    func dump() throws -> JournalDump {
        let snapshots = try snapshots()
        var records: [JournalRecord] = []
        var last = snapshots.first?.sequence ?? JournalSequence(0)
        while true {
            let more = try self.records(after: last, maxBytes: 1000)
            guard let end = more.last else { break }
            records += more
            last = end.sequence
        }
        return JournalDump(snapshots: try snapshots.map { try snapshot($0) }, records: records)
    }
}
