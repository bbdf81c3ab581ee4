internal import StateCoding

extension StateVerification {
    /// Checks that no part of a state is a class instance.
    mutating func holdsValues(_ state: State, _ name: String) -> Bool {
        do throws(CodingFailure) { try encoder.checkValueSemantics(of: state) } catch {
            // What has no encoding at all is another problem.
            guard (try? encoder.encode(state)) != nil else { return true }
            problems.add(.classInstance, at: error.path, "Expected values all through \(name): \(error)")
            return false
        }
        return true
    }

    /// Checks that a state is encoded alike each time, and comes back from the untyped tree too. (Variants come from
    /// it.)
    mutating func isSteady(_ sample: StateSample<State>) -> Bool {
        if let again = try? encoder.value(of: sample.state), let difference = TreeDifference(sample.tree, again) {
            addUnstable(difference, sample.name)
            return false
        }
        return roundTrips(sample) { decoder throws(CodingFailure) in
            try decoder.decode(State.self, from: sample.tree)
        }
    }

    /// Checks that a state comes back from its bytes as it was.
    mutating func roundTrips(_ sample: StateSample<State>) -> Bool {
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
                Let init(from:) take all that encode(to:) writes.
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
                    Expected \(sample.name) to come back from its encoding; \(place(difference.path)) it was encoded as \
                    \(left), and after decoding as \(right). Let init(from:) read what encode(to:) writes.
                    """
                )
            }
            return false
        }
        if isReflexive, decoded != sample.state {
            addUnencoded(sample.state, decoded, "\(sample.name) and what was decoded from its encoding")
            return false
        }
        return true
    }

    /// Whether a state is `==` to itself, as all are but those with NaN in them. (A collection that shares its memory is so
    /// whatever is in it, so it is not asked.)
    mutating func isReflexive(_ sample: StateSample<State>) -> Bool {
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
            Expected states that are == to be encoded alike; \(place(difference.path)) \(name) is encoded differently each \
            time, once as \(left) and once as \(right). A Set or Dictionary that is handed the encoder writes itself in an \
            order that changes from process to process: encode it in a single-value container \
            (encoder.singleValueContainer()), which sorts it.
            """
        )
    }

    mutating func addUnencoded(_ left: State, _ right: State, _ names: String) {
        problems.add(
            .unencoded,
            at: [],
            """
            Expected states that are not == to be encoded differently; \(names) are encoded alike. What is not encoded \
            never reaches a replica: encode it, or leave it out of ==.

            \(difference(expected: left, actual: right))
            """
        )
    }
}

extension Value {
    /// Whether NaN is anywhere in it, keys left out: those are compared by their encodings.
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
