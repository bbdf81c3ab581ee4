public import StatecastCoding
import StatecastJournal

/// Converts the state of another build in the journal to this build's.
///
/// New fields of the state outside of collections are filled from the primary's initial state, new fields of rows from
/// an example row. All other changes need a migration.
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
/// A journal whose state cannot be converted without loss is refused, and stays unchanged. See `docs/EVOLUTION.md`.
public struct StateEvolution: Sendable {
    /// Changes a recorded state to the shape of the next version of the state type.
    ///
    /// Runs before fields are filled. If it throws, the journal is refused.
    public typealias Migration = @Sendable (_ state: inout Value) throws -> Void

    let rows: [any Encodable & Sendable]
    let migrations: [Migration]
    let retiredActions: Set<String>

    /// Creates an evolution.
    ///
    /// - Parameters:
    ///   - rows: for each type whose values are in collections, a value with the fields that older values may lack; for
    ///     an enum, one value per case.
    ///   - migrations: all migrations since the first release, oldest first. The journal counts them, so that each runs
    ///     once: append new ones, and leave released ones unchanged.
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

/// A store's evolution, with the values for missing fields.
struct EvolutionPlan: Sendable {
    private let migrations: [StateEvolution.Migration]
    private let defaults: FieldDefaults
    let retiredActions: Set<String>

    /// - Throws: ``CodingFailure`` if a row cannot be encoded.
    init(_ evolution: StateEvolution, from initial: some Encodable) throws(CodingFailure) {
        migrations = evolution.migrations
        retiredActions = evolution.retiredActions
        defaults = try FieldDefaults(initial: initial, rows: evolution.rows)
    }

    /// The number of migrations of this build.
    var count: Int { migrations.count }

    /// Converts a recorded state, to which `done` migrations were applied, to this build's.
    ///
    /// - Throws: ``JournalFailure`` with code `misfit` that names the field or the migration.
    func state<State: Decodable>(_ type: State.Type, from recorded: Value, after done: Int) throws -> State {
        guard done <= count else {
            throw JournalFailure(
                .misfit,
                "the journal's state has been through \(done) migrations, and this build knows \(count): run the "
                    + "build that wrote "
                    + "it, or register the others. The journal stays as it is"
            )
        }
        var tree = recorded
        for (index, migration) in migrations.enumerated().dropFirst(done) {
            do { try migration(&tree) } catch {
                throw JournalFailure(
                    .misfit,
                    "migration \(index + 1) of \(count) cannot change the journal's state: \(error). The journal "
                        + "stays as it is"
                )
            }
        }
        do { return try StateDecoder().decode(type, from: tree, filling: defaults) } catch {
            throw JournalFailure(
                .misfit,
                "the journal's state is not one of this build: \(error). \(Self.remedy(for: error)). The journal "
                    + "stays as it is"
            )
        }
    }

    private static func remedy(for failure: CodingFailure) -> String {
        switch failure.code {
        case .missingKey: "Give the store's evolution a row of the type that lacks it, or a migration that adds it"
        case .unknownKey:
            "It would be lost: run a build that knows it, or give the store's evolution a migration that removes it"
        default: "Run the build that wrote it, or give the store's evolution a migration that changes it"
        }
    }
}
