internal import StateCoding

/// One run of ``verifyState(_:_:fileID:filePath:line:column:)``.
struct StateVerification<State: Codable & Equatable> {
    var problems = StateProblems()
    let encoder = StateEncoder()
    let decoder = StateDecoder()
    /// Whether two states were seen whose encodings differ.
    var hasDifference = false

    mutating func verify(_ states: [State]) {
        var given: [StateSample<State>] = []
        for (index, state) in states.enumerated() {
            let name = states.count == 1 ? "the state" : "state \(index + 1)"
            guard holdsValues(state, name), let sample = sample(state, name), isSteady(sample) else { continue }
            given.append(sample)
        }
        for (index, left) in given.enumerated() {
            for right in given[(index + 1)...] { compare(left, right) }
        }
        for sample in given {
            let effort = VerificationEffort(for: sample.tree, oneOf: given.count)
            checkOrders(of: sample, limit: effort.arraysMax)
            vary(sample, limit: effort.variantsMax)
        }
        if !hasDifference, problems.isEmpty {
            problems.add(
                .invariable,
                at: [],
                """
                Expected a state in which something can change; the type accepts no change of \(given[0].tree). \
                Give states that have something in them, or several that differ.
                """
            )
        }
    }

    /// Checks that a state has an encoding and comes back from it.
    ///
    /// - Returns: `nil` if there is no use in going on with it.
    private mutating func sample(_ state: State, _ name: String) -> StateSample<State>? {
        let sample: StateSample<State>
        do throws(CodingFailure) {
            let bytes = try encoder.encode(state)
            let tree = try Value(decoding: bytes)
            sample = StateSample(name: name, state: state, bytes: bytes, tree: tree, summary: Summary(of: tree))
        } catch {
            problems.add(
                .unencodable,
                at: error.path,
                "Expected \(name) to have an encoding, which is what other processes get: \(error)"
            )
            return nil
        }
        return roundTrips(sample) ? sample : nil
    }

    // MARK: Variants

    private mutating func vary(_ origin: StateSample<State>, limit: Int) {
        let all = TreeVariation.all(of: origin.tree, example: Value(exampleOf: State.self))
        var last: StateSample<State>?
        for position in 0..<min(limit, all.count) {
            let variation = all[all.count <= limit ? position : position * all.count / limit]
            guard let variant = variant(of: origin, by: variation) else { continue }
            compare(origin, variant)
            if let last { checkPatch(from: last, to: variant) }
            last = variant
        }
    }

    /// The first variant that the type accepts.
    private mutating func variant(of origin: StateSample<State>, by variation: TreeVariation) -> StateSample<State>? {
        for tree in variation.trees(of: origin.tree) {
            let name = "\(origin.name) with another `\(variation.steps.path.joined(separator: "."))`"
            guard let state = try? decoder.decode(State.self, from: tree) else { continue }
            // What was absent is the only part that was not looked at.
            if case .addition = variation.change, !holdsValues(state, name) { continue }
            if let sample = sample(state, name), sample.tree != origin.tree { return sample }
        }
        return nil
    }
}
