internal import Journal
internal import Statecast
internal import SyncProtocol

/// Where a command is in its input, and what of it an earlier process took.
struct InputProgress: Sendable {
    private let taken: InputMark
    private var checksum = Checksum()
    private var position: UInt64 = 0

    /// - Parameter taken: how far an earlier process took it.
    init(behind taken: InputMark = .start) { self.taken = taken }

    /// What was read so far.
    var mark: InputMark { InputMark(position: position, digest: checksum.value) }

    /// The next line was read.
    ///
    /// - Returns: whether it is new.
    /// - Throws: ``CommandFailure`` if those that were taken were others.
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
        if position == taken.position && mark != taken { throw otherInput("they are others") }
        return position > taken.position
    }

    /// The input is over.
    ///
    /// - Throws: ``CommandFailure`` if there was more of it once.
    func end() throws(CommandFailure) {
        guard position >= taken.position else { throw otherInput("the input has \(position) lines") }
    }

    private func otherInput(_ difference: String) -> CommandFailure {
        .wrongUsage(
            "expected an input that begins with the \(taken.position) lines that were taken before, \(difference): --resume "
                + "needs the same input from its start"
        )
    }
}
