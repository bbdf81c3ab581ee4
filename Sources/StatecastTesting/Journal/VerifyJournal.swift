public import Journal

/// Checks that a journal keeps what a primary relies on, as the documentation of `Journal` says it.
///
/// - It has no history until one is begun, and keeps that one; what was appended, claimed and stored is there when it is
///   opened anew, in order; its marks of reductions are, too.
/// - Records are handed out in pieces of a size, at least one at a time, and the one that leads to a revision is found.
/// - Pruning leaves what is asked for, and two snapshots in any case; what is gone is refused with code `pruned`. An interim
///   snapshot is replaced by the next one.
/// - One primary has it at a time; the second is refused with code `in-use`.
/// - Snapshots are stored, and records read, while others are appended.
///
/// What it survives (a crash, damage, a full disk) is each journal's own and not checked.
///
/// ```swift
/// @Test func `our journal keeps what a primary relies on`() throws {
///     let folder = try TemporaryFolder()
///     verifyJournal { place in OurJournal(at: "\(folder.path)/\(place)") }
/// }
/// ```
///
/// Each rule that is broken is one issue.
///
/// - Parameter journal: returns a journal that is not open, at the place of the name: the same name is the same place, to
///   open what another one closed; a new name is one where nothing is yet. About ten names are used.
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
                defer { place.leave() }
                try rule.check(place)
            }
        } catch {
            site.report("Expected a journal that \(rule.promise): \(error)")
        }
    }
}
