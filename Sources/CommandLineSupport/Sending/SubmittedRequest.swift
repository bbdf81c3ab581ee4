internal import Statecast

/// A piece of the input that was taken, and has or will have an outcome.
struct SubmittedRequest: Sendable {
    /// The line of the input; `nil` where the input is no lines.
    var position: UInt64?
    /// The action's name, or what is wrong with the line.
    let content: Result<String, MalformedLine>
    /// `nil` for what is no action, unless the session file keeps it.
    let receipt: PendingReceipt?
}

/// A line of the input that is no request.
struct MalformedLine: Error {
    let number: Int
    let fault: LineFault
}

extension SubmittedRequest {
    /// What an earlier process left without having shown it.
    init(_ resumed: ResumedAction) {
        position = resumed.position
        receipt = resumed.receipt
        if let name = resumed.name {
            content = .success(name)
        } else {
            let fault = LineFault(message: resumed.fault ?? "no action")
            content = .failure(MalformedLine(number: Int(clamping: resumed.position ?? 0), fault: fault))
        }
    }
}
