public import StateCoding

/// How a state that another build left in the journal becomes this build's.
///
/// Fields that State gained need no more than this: those outside of all collections are filled from the state that the
/// primary is made with, those of rows from a row that is given here. All else takes a migration.
///
/// ```swift
/// let evolution = StateEvolution(
///     rows: [Item(title: "", price: 0, tags: [])],
///     migrations: [
///         { shop in
///             shop["title"] = shop["name"]
///             shop["name"] = nil
///         }
///     ]
/// )
/// ```
///
/// A journal that does not become this build's state with all that it holds is refused, and stays as it is. `docs/EVOLUTION.md`
/// says more.
public struct StateEvolution: Sendable {
    /// Changes a recorded state into what the next version of State is read from: see `Value`.
    ///
    /// It runs before anything is filled. An error that it throws refuses the journal.
    public typealias Migration = @Sendable (_ state: inout Value) throws -> Void

    let rows: [any Encodable & Sendable]
    let migrations: [Migration]
    let retiredActions: Set<String>

    /// Says what to fill from, and what to change before.
    ///
    /// - Parameters:
    ///   - rows: for each type whose values are in a collection, in whatever collection, a value that has the fields which
    ///     older values may lack; of an enum, one for each case.
    ///   - migrations: all that there have ever been, oldest first. The journal counts them, so that each runs once: add new
    ///     ones at the end, and leave the old ones as they were released.
    ///   - retiredActions: names of actions that older builds accepted and this one does not. A journal that has other
    ///     unregistered actions of senders is refused: their type may have been renamed.
    public init(
        rows: [any Encodable & Sendable] = [],
        migrations: [Migration] = [],
        retiredActions: Set<String> = []
    ) {
        self.rows = rows
        self.migrations = migrations
        self.retiredActions = retiredActions
    }
}
