public import StateCore

extension TestCore {
    /// Sends an action and asserts what it changes.
    ///
    /// What a `.dispatch` effect or a middleware has dispatched before would be reduced before it in any core, so it has to be
    /// received first. What an effect sends at its own pace may come before or after: that is for the test to say.
    ///
    /// - Parameters:
    ///   - session: the session that the action is said to come from.
    ///   - user: the user that the action is said to come from.
    ///   - code: with what code a middleware is expected to reject the action; nil if it is expected to pass.
    ///   - change: makes the old state the expected one; left out if the state stays as it was.
    /// - Returns: the value that a middleware, such as a thunk, answered with.
    @discardableResult
    public func send(
        _ action: any Action,
        session: String? = nil,
        user: String? = nil,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async -> (any Sendable)? {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        let name = type(of: action).name
        takeImmediates(before: name, at: site)
        let old = state
        let result = take(action, context: ActionContext(time: time, session: session, user: user), at: site)
        compare(old, change, after: name, at: site)
        return compare(result, code, of: name, at: site)
    }

    private func takeImmediates(before name: String, at site: CallSite) {
        guard isExhaustive else {
            while let arrival = inbox.takeNow(where: \.isImmediate) { _ = take(arrival, at: site) }
            return
        }
        let missed = inbox.now.wanted.filter(\.isImmediate).map(\.name)
        guard !missed.isEmpty else { return }
        site.report("Reduced before \(name) is what was sent before. Receive first: \(missed.joined(separator: ", ")).")
    }
}
