internal import StateCore

extension TestCore {
    /// Waits until all effects have ended, and asserts that all that they sent was received. To be called last.
    ///
    /// An effect that goes on for ever has to be ended first, by an action that cancels it. A cancelled effect need not end
    /// by itself.
    public func finish(
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async {
        defer {
            isFinished = true
            end()
        }
        guard isExhaustive else { return }
        let isDone = await inbox.first(within: patience) { inbox -> Bool? in
            if !inbox.wanted.isEmpty { return false }
            return inbox.running.isEmpty ? true : nil
        }
        // What was cancelled inside a sequence and takes no notice of it does not count as running.
        guard isDone != true, isDone == false || effects.runningCount > 0 else { return }
        CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
            .report("Not all has come to its end. \(inbox.now.account)")
    }
}

extension Inbox.Content {
    /// What waits to be received and what runs, in words.
    var account: String {
        func list(_ names: [String]) -> String { names.isEmpty ? "nothing" : names.joined(separator: ", ") }
        return "Waiting to be received: \(list(wanted.map(\.name))). Still running: \(list(running.map(\.name)))."
    }
}
