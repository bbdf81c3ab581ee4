internal import StateCoding

extension StateVerification {
    /// Checks that `==` and the encoding agree about two states, and the patches between them.
    mutating func compare(_ left: StateSample<State>, _ right: StateSample<State>) {
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
                Expected states that are encoded differently not to be ==; \(names) are, though \(place(difference.path)) \
                one is encoded as \(left) and the other as \(right). Such a change would never be published: let == \
                compare it, or do not encode it.
                """
            )
            return
        }
        checkPatch(from: left, to: right)
        checkPatch(from: right, to: left)
    }

    /// Checks that the patch from one state leads to the other, in both ways of applying it.
    mutating func checkPatch(from old: StateSample<State>, to new: StateSample<State>) {
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
                addUnencoded(new.state, state, "\(new.name) and what a patch made of \(old.name)")
            } else if summary != new.summary || advanced != new.summary {
                addUnpatchable("the summary does not follow", at: [], from: old, to: new)
            }
        } catch {
            addUnpatchable("it got the error: \(error)", at: error.path, from: old, to: new)
        }
    }

    private mutating func addUnpatchable(
        _ difference: TreeDifference,
        _ applied: String,
        from old: StateSample<State>,
        to new: StateSample<State>
    ) {
        let (expected, came) = difference.words
        let outcome = "\(place(difference.path)) \(applied) has \(came) instead of \(expected)"
        addUnpatchable(outcome, at: difference.path, from: old, to: new)
    }

    private mutating func addUnpatchable(
        _ came: String,
        at path: [String],
        from old: StateSample<State>,
        to new: StateSample<State>
    ) {
        problems.add(
            .unpatchable,
            at: path,
            """
            Expected the patch from \(old.name) to \(new.name) to lead there; \(came). A patch holds the parts that are \
            not ==, each by the == of its own type: let that compare all that is encoded.
            """
        )
    }
}
