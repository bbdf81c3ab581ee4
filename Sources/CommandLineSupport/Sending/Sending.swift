internal import Dispatch
package import Logging
internal import ServiceLifecycle
internal import StateCoding
package import Statecast
internal import Synchronization

/// Sends what is asked for, pipelined, and shows the receipts in order.
package struct Sending: Sendable {
    private let sender: ActionSender
    private let file: SessionFile?
    /// How far an earlier process took the input.
    private let taken: InputMark
    private let output: LineOutput
    private let asJSON: Bool
    private let logger: Logger

    /// Where the requests come from.
    package enum Source: Sendable {
        /// One action.
        case single(ActionRequest)
        /// A request on each line, blank ones skipped.
        case lines(InputLines)
    }

    /// How many may be on their way; beyond, no more input is read.
    private static let submittedMax = 4096
    /// How long a signal leaves for receipts that are on their way.
    private static let grace = Duration.seconds(1)

    /// A command's way to send.
    ///
    /// - Parameter file: where the sender keeps its session, if it does.
    package init(
        _ sender: ActionSender,
        session file: SessionFile? = nil,
        output: LineOutput,
        asJSON: Bool,
        logger: Logger
    ) {
        self.sender = sender
        self.file = file
        taken = file?.mark ?? .start
        self.output = output
        self.asJSON = asJSON
        self.logger = logger
    }

    /// Sends until the source ends, the time is over or the process is asked to stop, and tells how the command ends.
    ///
    /// - Throws: ``CommandFailure`` or an exit code, unless all was applied.
    package func run(_ source: Source, to upstream: Upstream, timeout: Duration?) async throws {
        let submitted = ReceiptQueue<SubmittedRequest>(countMax: Self.submittedMax)
        let cause = StopCause()
        let feeding = Task {
            let result: Result<Void, any Error>
            do { result = .success(try await feed(source, into: submitted)) } catch { result = .failure(error) }
            await submitted.finish()
            return result
        }
        let alarm = timeout.map { timeout in
            Task {
                try await Task.sleep(for: timeout)
                cause.set("timed out after \(timeout)")
                feeding.cancel()
                await sender.close(because: "no receipt within \(timeout)")
            }
        }
        let watch = file.map { _ in
            Task { () -> Rejection? in
                // Otherwise a refusal is the outcome of each action; these wait in the file for better times.
                guard let reason = await refusal() else { return nil }
                cause.set(reason.message)
                feeding.cancel()
                await sender.close(because: reason.message)
                return reason
            }
        }
        var tally = await withGracefulShutdownHandler {
            await show(submitted) { feeding.cancel() }
        } onGracefulShutdown: {
            cause.set("interrupted")
            feeding.cancel()
            Task {
                try? await Task.sleep(for: Self.grace)
                await sender.close(because: "interrupted")
            }
        }
        alarm?.cancel()
        let fed = await feeding.value
        watch?.cancel()
        if let reason = await watch?.value { tally.refused(reason) }
        switch source {
        case .single(let request): if tally.isAnswered { await noteStrangeFields(of: request, within: timeout) }
        case .lines: logger.notice("\(tally.total)")
        }
        if file != nil { await sender.close() }
        let kept = file.flatMap { $0.isUnfinished ? "\($0.contents): go on with --resume" : nil }
        try tally.conclude(upstream, sender.status, fed, because: cause.text, kept: kept)
    }

    /// Time limit for the schema, after the action was answered.
    private static let schemaTimeMax = Duration.seconds(10)

    /// A field that an action does not have is ignored by the primary; a misspelt one may be optional.
    private func noteStrangeFields(of request: ActionRequest, within timeout: Duration?) async {
        let timeout = min(timeout ?? Self.schemaTimeMax, Self.schemaTimeMax)
        guard request.payload.mapValue?.isEmpty == false,
            let known = try? await CommandLineSupport.within(timeout, { try await sender.actions() })
        else { return }
        for notice in request.strangeFields(among: known) { logger.warning("\(notice)") }
    }

    private func refusal() async -> Rejection? {
        for await status in sender.statuses {
            if case .refused(let reason) = status { return reason }
        }
        return nil
    }

    /// Why the sending stopped before its end; the first cause counts.
    private final class StopCause: Sendable {
        private let stored = Mutex<String?>(nil)
        var text: String? { stored.withLock { $0 } }
        func set(_ text: String) { stored.withLock { $0 = $0 ?? text } }
    }

    // MARK: In

    private func feed(_ source: Source, into submitted: ReceiptQueue<SubmittedRequest>) async throws {
        for action in sender.resumed { await submitted.append(SubmittedRequest(action)) }
        var progress = InputProgress(behind: taken)
        switch source {
        case .single(let request):
            let line = InputLine.line(number: 1, Array(request.name.utf8) + request.payload.encoded)
            guard try progress.read(line) else { break }
            // Its input has lines only to a session file.
            let position = file.map { _ in progress.mark.position }
            await submit(request, progress.mark, position, into: submitted)
        case .lines(var lines):
            while let line = try await lines.next() {
                try Task.checkCancellation()
                if try progress.read(line) { await take(line, progress.mark, into: submitted) }
            }
        }
        try progress.end()
        if file != nil { await sender.finishInput(at: progress.mark) }
    }

    private func take(_ line: InputLine, _ mark: InputMark, into submitted: ReceiptQueue<SubmittedRequest>) async {
        switch line {
        case .line(1, let bytes) where bytes.count > bytes.withoutByteOrderMark.count:
            await take(.line(number: 1, Array(bytes.withoutByteOrderMark)), mark, into: submitted)
        case .line(_, let bytes) where bytes.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }): break
        case .line(let number, let bytes):
            do throws(LineFault) {
                await submit(try ActionRequest(line: bytes), mark, mark.position, into: submitted)
            } catch {
                await reject(MalformedLine(number: number, fault: error), mark, into: submitted)
            }
        case .tooLong(let number):
            let fault = LineFault(message: "longer than \(InputLines.lineBytesMax) bytes")
            await reject(MalformedLine(number: number, fault: fault), mark, into: submitted)
        }
    }

    private func submit(
        _ request: ActionRequest,
        _ mark: InputMark,
        _ position: UInt64?,
        into submitted: ReceiptQueue<SubmittedRequest>
    ) async {
        let receipt = await sender.submit(named: request.name, payload: request.payload, mark: mark)
        await submitted.append(
            SubmittedRequest(position: position, content: .success(request.name), receipt: receipt)
        )
    }

    /// Only a session file keeps what became of it.
    private func reject(_ line: MalformedLine, _ mark: InputMark, into submitted: ReceiptQueue<SubmittedRequest>) async
    {
        let verdict = Rejection(.malformed, line.fault.message)
        let receipt = file == nil ? nil : await sender.reject(verdict, mark: mark)
        await submitted.append(
            SubmittedRequest(position: mark.position, content: .failure(line), receipt: receipt)
        )
    }

    // MARK: Out

    /// Shows each receipt as its turn comes. If that cannot be done any more, or the session is refused, no more is taken
    /// in; what is on its way is seen through. What is left to a later run is shown there, and all that comes behind it.
    private func show(_ submitted: ReceiptQueue<SubmittedRequest>, stopFeeding: () -> Void) async -> SendTally {
        var tally = SendTally()
        var isShown = true
        // The session file forgets what was shown, up to the first that was not.
        var isTold = file != nil
        var isLeft = false
        while let batch = await submitted.take() {
            var last: PendingReceipt?
            for entry in batch {
                guard !isLeft, let result = await result(of: entry) else {
                    isTold = false
                    continue
                }
                tally.count(result)
                isLeft = file != nil && (result.kind == .kept || result.kind == .notSent)
                if tally.refusal != nil {
                    stopFeeding()
                } else if isShown, !isLeft {
                    let line = asJSON ? result.json(position: entry.position) : result.text(position: entry.position)
                    do { try await output.write(line) } catch {
                        isShown = false
                        stopFeeding()
                        if let reason = reason(for: error) { tally.hidden(because: reason) }
                    }
                }
                isTold = isTold && isShown && !isLeft
                if isTold { last = entry.receipt }
            }
            if let last { await sender.acknowledge(upTo: last) }
        }
        return tally
    }

    /// Why what comes next is not shown, if that is anything to complain about.
    private func reason(for error: any Error) -> String? {
        switch error {
        case let failure as CommandFailure: failure.message
        // Whoever has seen enough of an output may close it; but what a session file keeps is still to be shown.
        case is OutputClosed where file != nil: "nobody reads the standard output any more"
        default: nil
        }
    }

    /// `nil` only if this task is cancelled: at the end of the time that a signal leaves.
    private func result(of entry: SubmittedRequest) async -> SendResult? {
        switch entry.content {
        case .failure(let line): .malformed(line: line.number, line.fault)
        case .success(let name): (try? await entry.receipt?.outcome()).map { .settled(name: name, $0) }
        }
    }
}
