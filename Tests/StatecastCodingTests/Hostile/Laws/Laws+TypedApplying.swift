import StatecastCoding

extension Laws {
    /// A patch has the same effect on a typed state and on its tree, or leaves both unchanged.
    static func checkTypedApplying(_ patches: [Patch], to bytes: [UInt8]) throws(BrokenLaw) {
        for shape in shapes { try checkTypedApplying(patches, to: bytes, as: shape) }
    }

    private static func checkTypedApplying<State: Codable>(
        _ patches: [Patch],
        to bytes: [UInt8],
        as type: State.Type
    ) throws(BrokenLaw) {
        let first = may { () throws(CodingFailure) in try StateDecoder().decode(type, from: bytes) }
        guard case .success(var state) = first else { return }
        for patch in patches {
            let before = state
            guard try applies(patch, to: &state) else { continue }
            try checkDifference(from: before, to: state)
        }
    }

    private static func applies<State: Codable>(_ patch: Patch, to state: inout State) throws(BrokenLaw) -> Bool {
        let before = try encoding(state)
        var tree = try must("a state has a tree") { try StateEncoder().value(of: state) }
        let throughTree = may { () throws(CodingFailure) in
            try patch.apply(to: &tree)
            return try StateDecoder().decode(State.self, from: tree)
        }
        switch (may { () throws(CodingFailure) in try patch.apply(to: &state) }, throughTree) {
        case (.success, .success(let expected)):
            let isSame = try encoding(state) == encoding(expected)
            // A set drops duplicates and sorts the rest, so the next part of a sequence may refer to another place.
            let movesElements = try hasSequence(patch)
            try require(isSame || (movesElements && holdsSets(State.self)), "\(State.self) changes as its tree does")
            return true
        case (.failure, .failure):
            try require(try encoding(state) == before, "\(State.self) stays as it was if a patch does not fit")
            return false
        case (.success, .failure(let failure)):
            // The misfit may be in a part that the type does not decode; two keys of a tree may be one key of a type.
            let isExplained = failure.code == .patchMismatch || failure.code == .duplicateKey
            try require(isExplained, "\(State.self) is patched though its tree is not: \(failure)")
            _ = try encoding(state)
            return true
        case (.failure(let failure), .success):
            // Each part of a sequence must result in a valid state; the tree may have other values in between.
            try require(try encoding(state) == before, "\(State.self) stays as it was if a patch does not fit")
            if try hasSequence(patch) { return false }
            throw BrokenLaw("\(State.self) is not patched though its tree is: \(failure)")
        }
    }

    private static func holdsSets(_ type: Any.Type) -> Bool {
        [World.self, Set<Int>.self, [Set<String>].self].contains { $0 == type }
    }

    private static func hasSequence(_ patch: Patch) throws(BrokenLaw) -> Bool {
        func inWire(_ wire: Value) -> Bool {
            wire.mapValue?.contains { inWire($0.value) } ?? (wire.arrayValue?.count == 2)
        }
        let limits = CodingLimits(maxDepth: 2 * CodingLimits.standard.maxDepth + 32)
        return inWire(try must("a patch is CBOR") { try Value(decoding: patch.encode(), limits: limits) })
    }

    private static func checkDifference<State: Codable>(from old: State, to new: State) throws(BrokenLaw) {
        let difference = try must("states have a difference") { try Differ.patch(from: old, to: new) }
        let (before, after) = try must("states have trees") {
            (try StateEncoder().value(of: old), try StateEncoder().value(of: new))
        }
        var (tree, summary) = (before, Summary(of: before))
        try must("a difference fits the tree") { try difference.patch.apply(to: &tree) }
        try require(tree == after, "the difference of \(State.self) leads from tree to tree")
        summary.advance(by: difference)
        try require(summary == Summary(of: after), "the difference of \(State.self) carries its summary")
        var state = old
        try must("a difference fits the state") { try difference.patch.apply(to: &state) }
        let result = try must("a state has a tree") { try StateEncoder().value(of: state) }
        try require(result == after, "the difference of \(State.self) leads from state to state")
    }
}
