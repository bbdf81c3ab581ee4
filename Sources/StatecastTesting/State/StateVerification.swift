import StatecastCoding

/// One run of ``verifyState(_:_:fileID:filePath:line:column:)``.
struct StateVerification<State: Codable & Equatable> {
    private(set) var problems = StateProblems()
    let encoder = StateEncoder()
    let decoder = StateDecoder()
    /// Whether two of the compared states have different encodings.
    private var hasDifference = false

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
            checkOrders(of: sample, limit: effort.maxArrays)
            vary(sample, limit: effort.maxVariants)
        }
        if !hasDifference, problems.isEmpty {
            problems.add(
                .invariable,
                at: [],
                """
                Expected a state that can change; the type accepts no change of \(given[0].tree). Pass states whose \
                fields have values, or several that differ.
                """
            )
        }
    }

    /// Checks that a state has an encoding and can be decoded from it.
    ///
    /// - Returns: `nil` if further checks make no sense.
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
                "Expected \(name) to have an encoding: \(error)"
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
            // The added part is the only one not checked before.
            if case .addition = variation.change, !holdsValues(state, name) { continue }
            if let sample = sample(state, name), sample.tree != origin.tree { return sample }
        }
        return nil
    }
}

extension StateVerification {
    // MARK: One state

    /// Checks that no part of a state is a class instance.
    private mutating func holdsValues(_ state: State, _ name: String) -> Bool {
        do throws(CodingFailure) { try encoder.checkValueSemantics(of: state) } catch {
            // A state without any encoding is another problem.
            guard (try? encoder.encode(state)) != nil else { return true }
            problems.add(.classInstance, at: error.path, "Expected only values in \(name): \(error)")
            return false
        }
        return true
    }

    /// Checks that a state has the same encoding each time, and can be decoded from the untyped tree, like variants.
    private mutating func isSteady(_ sample: StateSample<State>) -> Bool {
        if let again = try? encoder.value(of: sample.state), let difference = TreeDifference(sample.tree, again) {
            addUnstable(difference, sample.name)
            return false
        }
        return roundTrips(sample) { decoder throws(CodingFailure) in
            try decoder.decode(State.self, from: sample.tree)
        }
    }

    /// Checks that decoding a state's bytes gives an equal state.
    private mutating func roundTrips(_ sample: StateSample<State>) -> Bool {
        roundTrips(sample) { decoder throws(CodingFailure) in try decoder.decode(State.self, from: sample.bytes) }
    }

    private mutating func roundTrips(
        _ sample: StateSample<State>,
        _ decode: (StateDecoder) throws(CodingFailure) -> State
    ) -> Bool {
        do throws(CodingFailure) {
            return try comesBack(try decode(decoder), sample)
        } catch {
            problems.add(
                .undecodable,
                at: error.path,
                """
                Expected \(sample.name) to be decoded from its own encoding, got the error: \(error). \
                Let init(from:) accept all that encode(to:) writes.
                """
            )
            return false
        }
    }

    private mutating func comesBack(
        _ decoded: State,
        _ sample: StateSample<State>
    ) throws(CodingFailure) -> Bool {
        let isReflexive = isReflexive(sample)
        if let difference = TreeDifference(sample.tree, try encoder.value(of: decoded)) {
            let (left, right) = difference.words
            if decoded == sample.state {
                addUnstable(difference, sample.name)
            } else {
                problems.add(
                    .lossy,
                    at: difference.path,
                    """
                    Expected \(sample.name) to be the same after decoding; \(place(difference.path)) it was encoded as \
                    \(left), and after decoding as \(right). Let init(from:) read all that encode(to:) writes.
                    """
                )
            }
            return false
        }
        if isReflexive, decoded != sample.state {
            addUnencoded(sample.state, decoded, "\(sample.name) and the state decoded from its encoding")
            return false
        }
        return true
    }

    /// Whether a state is `==` to itself, as all states without NaN are. (A collection that shares its memory is equal
    /// to itself even with NaN in it, so `==` does not decide that.)
    private mutating func isReflexive(_ sample: StateSample<State>) -> Bool {
        if sample.tree.holdsNaN { return false }
        if sample.state == sample.state { return true }
        problems.add(
            .unequalToItself,
            at: [],
            "Expected \(sample.name) to be == to itself, and there is no NaN in it. Correct the type's ==."
        )
        return false
    }

    mutating func addUnstable(_ difference: TreeDifference, _ name: String) {
        let (left, right) = difference.words
        problems.add(
            .unstable,
            at: difference.path,
            """
            Expected states that are == to have the same encoding; \(place(difference.path)) \(name) is encoded \
            differently each time, once as \(left) and once as \(right). A Set or Dictionary whose encode(to:) you \
            call writes its elements in an order that differs between processes: encode it in a single-value container \
            (encoder.singleValueContainer()), which sorts it.
            """
        )
    }

    private mutating func addUnencoded(_ left: State, _ right: State, _ names: String) {
        problems.add(
            .unencoded,
            at: [],
            """
            Expected states that are not == to have different encodings; \(names) have the same. A replica never gets \
            a field that is not encoded: encode it, or leave it out of ==.

            \(describeDifference(expected: left, actual: right))
            """
        )
    }

    // MARK: Two states

    /// Checks that `==` and the encoding agree about two states, and the patches between them.
    private mutating func compare(_ left: StateSample<State>, _ right: StateSample<State>) {
        let areEqual = left.state == right.state
        let names = "\(left.name) and \(right.name)"
        guard let difference = TreeDifference(left.tree, right.tree) else {
            if !areEqual, isReflexive(left), isReflexive(right) { addUnencoded(left.state, right.state, names) }
            return
        }
        hasDifference = true
        guard !areEqual else {
            let (left, right) = difference.words
            problems.add(
                .overlooked,
                at: difference.path,
                """
                Expected states with different encodings not to be ==; \(names) are, though \(place(difference.path)) \
                one is encoded as \(left) and the other as \(right). The primary would never publish such a change: \
                let == compare it, or do not encode it.
                """
            )
            return
        }
        checkPatch(from: left, to: right)
        checkPatch(from: right, to: left)
    }

    /// Checks that the patch from one state leads to the other, applied to the typed state and to the tree.
    private mutating func checkPatch(from old: StateSample<State>, to new: StateSample<State>) {
        do throws(CodingFailure) {
            let difference = try Differ.patch(from: old.state, to: new.state)
            let patch = try Patch(decoding: difference.patch.encode())
            var (tree, summary) = (old.tree, old.summary)
            try patch.apply(to: &tree, summary: &summary)
            var state = old.state
            try patch.apply(to: &state)
            var advanced = old.summary
            advanced.advance(by: difference)

            if let difference = TreeDifference(new.tree, tree) {
                addUnpatchable(difference, "its tree", from: old, to: new)
            } else if let difference = TreeDifference(new.tree, try encoder.value(of: state)) {
                addUnpatchable(difference, "the state", from: old, to: new)
            } else if state != new.state, isReflexive(new) {
                addUnencoded(new.state, state, "\(new.name) and the patched \(old.name)")
            } else if summary != new.summary || advanced != new.summary {
                addUnpatchable("the summary does not follow", at: [], from: old, to: new)
            }
        } catch {
            addUnpatchable("applying it failed: \(error)", at: error.path, from: old, to: new)
        }
    }

    private mutating func addUnpatchable(
        _ difference: TreeDifference,
        _ applied: String,
        from old: StateSample<State>,
        to new: StateSample<State>
    ) {
        let (expected, actual) = difference.words
        let outcome = "\(place(difference.path)) \(applied) has \(actual) instead of \(expected)"
        addUnpatchable(outcome, at: difference.path, from: old, to: new)
    }

    private mutating func addUnpatchable(
        _ outcome: String,
        at path: [String],
        from old: StateSample<State>,
        to new: StateSample<State>
    ) {
        problems.add(
            .unpatchable,
            at: path,
            """
            Expected the patch from \(old.name) to \(new.name) to lead there; \(outcome). A patch has the parts that \
            are not ==, each by the == of its own type: let that compare all encoded fields.
            """
        )
    }
}

/// A state to check, and its encoding.
struct StateSample<State> {
    /// The name in messages.
    let name: String
    let state: State
    let bytes: [UInt8]
    let tree: Value
    let summary: Summary
}

/// The bounds of the checks of one state, since each check costs a pass over the state.
private struct VerificationEffort {
    let maxVariants: Int
    /// The number of arrays whose order is checked.
    let maxArrays: Int

    /// - Parameter count: the number of states that share the effort.
    init(for tree: Value, oneOf count: Int) {
        let affordable = 20_000 / tree.nodeCount / count
        maxVariants = min(max(affordable, 4), 200)
        maxArrays = min(max(affordable / 10, 1), 16)
    }
}

extension Value {
    /// Whether a value in the tree is NaN.
    fileprivate var holdsNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .array(let elements): elements.contains(where: \.holdsNaN)
        case .map(let map): map.contains { $0.key.holdsNaN || $0.value.holdsNaN }
        case .tagged(_, let content): content.holdsNaN
        default: false
        }
    }
}
