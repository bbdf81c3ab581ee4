internal import Journal
internal import StateCoding

/// A store's evolution, with all that it fills from.
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

    /// How many migrations a state of this build has been through.
    var count: Int { migrations.count }

    /// Reads a recorded state, which has been through so many migrations, as this build's.
    ///
    /// - Throws: ``JournalFailure`` with code `misfit` that names the field or the migration.
    func state<State: Decodable>(_ type: State.Type, from recorded: Value, after done: Int) throws -> State {
        guard done <= count else {
            throw JournalFailure(
                .misfit,
                "the journal's state has been through \(done) migrations, and this build knows \(count): run the build that wrote "
                    + "it, or register the others. The journal stays as it is"
            )
        }
        var tree = recorded
        for (index, migration) in migrations.enumerated().dropFirst(done) {
            do { try migration(&tree) } catch {
                throw JournalFailure(
                    .misfit,
                    "migration \(index + 1) of \(count) cannot change the journal's state: \(error). The journal stays as it is"
                )
            }
        }
        do { return try StateDecoder().decode(type, from: tree, filling: defaults) } catch {
            throw JournalFailure(
                .misfit,
                "the journal's state is not one of this build: \(error). \(Self.remedy(for: error)). The journal stays as it is"
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
