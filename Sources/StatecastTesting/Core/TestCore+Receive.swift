public import StateCore

extension TestCore {
    /// Waits for an action of a type that an effect sends, lets it be reduced, and asserts what it changes.
    ///
    /// Of what several effects have sent at their own pace it takes the first that matches: any order may be asserted that
    /// a core may take. What a `.dispatch` effect or a middleware dispatches comes at once and has to be received in order.
    ///
    /// - Parameters:
    ///   - code: with what code a middleware is expected to reject the action; nil if it is expected to pass.
    ///   - change: makes the old state the expected one; left out if the state stays as it was.
    /// - Returns: the action; nil only if it did not come, which is an issue.
    @discardableResult
    public func receive<Received: Action>(
        _ type: Received.Type,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async -> Received? {
        let expected = ExpectedAction(name: Received.name) { $0 is Received }
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return await receive(expected, code, at: site, change) as? Received
    }

    /// Waits for exactly this action, as for one of a type.
    ///
    /// If another of its type comes in its place, the difference is shown, and that one is reduced.
    public func receive(
        _ action: some Action,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        _ = await receive(ExpectedAction(action), code, at: site, change)
    }

    /// Waits for an action that `matches`, as for one of a type.
    ///
    /// - Parameter matches: says whether an action is the one; asked on any thread.
    @discardableResult
    public func receive(
        where matches: @escaping @Sendable (_ action: any Action) -> Bool,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async -> (any Action)? {
        let expected = ExpectedAction(name: "an action that matches", matches: matches)
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return await receive(expected, code, at: site, change)
    }
}

extension TestCore {
    /// What came of waiting for an action.
    private enum Encounter: Sendable {
        case found(Arrival)
        /// Something else came before, which is all right.
        case passed(Arrival)
        /// Something else is due; it still waits.
        case preceded(Arrival)
        /// Nothing runs that could send it.
        case never
    }

    private func receive(
        _ expected: ExpectedAction,
        _ code: Rejection.Code?,
        at site: CallSite,
        _ change: (inout State) -> Void
    ) async -> (any Action)? {
        guard let arrival = await arrival(expected, at: site) else { return nil }
        let old = state
        let result = take(arrival, at: site)
        compare(old, change, after: arrival.name, at: site)
        _ = compare(result, code, of: arrival.name, at: site)
        return arrival.action
    }

    private func arrival(_ expected: ExpectedAction, at site: CallSite) async -> Arrival? {
        while true {
            switch await encounter(expected) {
            case .found(let arrival): return arrival
            case .passed(let other): _ = take(other, at: site)
            case .preceded(let other) where !expected.resembles(other.action):
                site.report(
                    "Expected to receive \(expected.name), but \(other.name) was sent before: receive that first."
                )
                return nil
            case .preceded, .never, nil: return substitute(for: expected, at: site)
            }
        }
    }

    /// Waits until it is clear what becomes of the expectation; nil if that is not clear when the patience ends.
    private func encounter(_ expected: ExpectedAction) async -> Encounter? {
        // A middleware may dispatch from a task of its own, that nobody here knows of.
        let (isOrdered, isKnown) = (isExhaustive, middleware.isEmpty)
        return await inbox.first(within: patience) { inbox in
            if !isOrdered, let first = inbox.take(where: { _ in true }) {
                return expected.matches(first.action) ? .found(first) : .passed(first)
            }
            if let due = inbox.wanted.first(where: \.isImmediate), !expected.matches(due.action) {
                return .preceded(due)
            }
            if let found = inbox.take(where: { expected.matches($0.action) }) { return .found(found) }
            return isKnown && inbox.running.isEmpty ? .never : nil
        }
    }

    /// Reports that the expected action did not come.
    ///
    /// - Returns: one of the same type, to go on with, since the test most likely meant that one.
    private func substitute(for expected: ExpectedAction, at site: CallSite) -> Arrival? {
        guard let action = expected.action, let arrival = inbox.takeNow(where: { expected.resembles($0.action) }) else {
            site.report("Expected to receive \(expected.name), but it did not come. \(inbox.now.account)")
            return nil
        }
        site.report(
            "Received another \(expected.name) than the expected one:\n\n"
                + difference(expected: action, actual: arrival.action)
        )
        return arrival
    }
}
