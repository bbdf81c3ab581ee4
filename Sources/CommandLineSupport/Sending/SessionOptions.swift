package import ArgumentParser
package import Statecast

/// Where a command keeps what it has not finished.
package struct SessionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep what is not finished in this file, so that a run that was ended can be resumed and no action is lost or "
                + "applied twice.",
            valueName: "file"
        )
    )
    package var session: String?

    @Flag(
        help: ArgumentHelp(
            "Go on with the session in the file, or begin one. Give the same input from its start: the lines that were taken "
                + "are skipped, the outcomes that were not printed are printed first."
        )
    )
    package var resume = false

    /// For argument-parser.
    package init() {}

    /// For argument-parser.
    package func validate() throws {
        if session?.isEmpty == true { throw ValidationError("--session needs the path of a file.") }
        if resume && session == nil { throw ValidationError("--resume needs --session and the file to go on with.") }
    }

    /// Opens the file, if one was named.
    ///
    /// - Throws: ``CommandFailure`` if it holds work that nobody said to resume; ``StatecastError`` if it cannot be used.
    package func open(for store: String) throws -> SessionFile? {
        guard let session else { return nil }
        let file = try SessionFile(at: session, store: store, keepsOutcomes: true)
        guard !resume else { return file }
        guard !file.isUnfinished else {
            throw CommandFailure.wrongUsage("\(file.contents): go on with --resume, or name another file")
        }
        file.beginInput()
        return file
    }
}

extension SessionFile {
    /// What it holds, for people.
    var contents: String {
        "the session file \(path) holds an unfinished session (lines taken: \(position), actions outstanding: "
            + "\(outstandingCount))"
    }
}
