package import ArgumentParser
package import Statecast
import StatecastJournal
import StatecastProtocol

/// The session file, in which a command keeps its unfinished work.
package struct SessionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep unfinished work in this file, so that a later run can resume it and no action is lost or applied "
                + "twice.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var session: String?

    @Flag(
        help: ArgumentHelp(
            "Resume the session in the file, or begin one. Give the same input from its start: lines that an earlier "
                + "run read are skipped, outcomes that it did not print are printed first."
        )
    )
    package var resume = false

    package init() {}

    package func validate() throws {
        if session?.isEmpty == true { throw ValidationError("--session needs the path of a file.") }
        if resume && session == nil { throw ValidationError("--resume needs --session with the file to continue.") }
    }

    /// Opens the file, if one was named.
    ///
    /// - Throws: ``CommandFailure`` if it holds work and --resume is absent; ``StatecastError`` if it cannot be used.
    package func open(for store: String) throws -> SessionFile? {
        guard let session else { return nil }
        let file = try SessionFile(at: session, store: store, outcomes: .untilAcknowledged)
        guard !resume else { return file }
        guard !file.isUnfinished else {
            throw CommandFailure.wrongUsage("\(file.contents): continue with --resume, or name another file")
        }
        file.beginInput()
        return file
    }
}

extension SessionFile {
    /// The unfinished work, for messages.
    var contents: String {
        "the session file \(path) holds an unfinished session (lines consumed: \(position), actions outstanding: "
            + "\(outstandingCount))"
    }
}

/// The position in the input, and the check that a resumed run gets the same input.
struct InputProgress: Sendable {
    private let consumed: InputMark
    private var checksum = Checksum()
    private var position: UInt64 = 0

    /// - Parameter consumed: the end of the lines that an earlier process consumed.
    init(resumingAfter consumed: InputMark = .start) { self.consumed = consumed }

    /// The end of the lines read so far.
    var mark: InputMark { InputMark(position: position, digest: checksum.value) }

    /// Advances by one line.
    ///
    /// - Returns: whether the line is new.
    /// - Throws: ``CommandFailure`` if the lines differ from those that the earlier process consumed.
    mutating func read(_ line: InputLine) throws(CommandFailure) -> Bool {
        switch line {
        case .line(let number, let bytes):
            position = UInt64(number)
            checksum.combine(UInt64(bytes.count))
            checksum.combine(bytes)
        case .tooLong(let number):
            position = UInt64(number)
            checksum.combine(UInt64.max)
        }
        if position == consumed.position && mark != consumed { throw otherInput("but they differ") }
        return position > consumed.position
    }

    /// Ends the input.
    ///
    /// - Throws: ``CommandFailure`` if the earlier process consumed more lines.
    func finish() throws(CommandFailure) {
        guard position >= consumed.position else { throw otherInput("but it has \(position) lines") }
    }

    private func otherInput(_ difference: String) -> CommandFailure {
        .wrongUsage(
            "expected an input that begins with the \(consumed.position) lines of an earlier run, \(difference): "
                + "--resume needs the same input from its start"
        )
    }
}
