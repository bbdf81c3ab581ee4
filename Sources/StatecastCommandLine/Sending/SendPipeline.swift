package import Logging
import ServiceLifecycle
package import Statecast
import StatecastCoding
import StatecastProtocol
import StatecastThreading

/// How a command prints its results.
package enum OutputFormat: Sendable {
    /// For people.
    case text
    /// For programs.
    case json
}

/// Sends the requests of a source, many in flight at a time, and prints their outcomes in order.
package struct SendPipeline: Sendable {
    private let sender: ActionSender
    private let file: SessionFile?
    /// How much of the input an earlier process consumed.
    private let consumed: InputMark
    private let output: LineOutput
    private let format: OutputFormat
    private let logger: Logger

    /// The source of the requests.
    package enum Source: Sendable {
        case single(ActionRequest)
        /// A request on each line; blank lines are skipped.
        case lines(InputLines)
    }

    /// The most requests in flight; at this limit the pipeline reads no more input.
    private static let maxSubmitted = 4096
    /// The most requests that pass to the output together, if as many have arrived.
    private static let maxEnqueued = 256
    /// The size of lines after which they are written, even if more outcomes are known.
    private static let outputBytes = 64 << 10
    /// How long outstanding receipts are awaited after a shutdown signal.
    private static let shutdownDelay = Duration.seconds(1)
    /// Time limit of the schema request that follows the outcome.
    private static let maxSchemaTime = Duration.seconds(10)

    /// - Parameter file: the sender's session file, if it has one.
    package init(
        _ sender: ActionSender,
        session file: SessionFile? = nil,
        output: LineOutput,
        format: OutputFormat,
        logger: Logger
    ) {
        self.sender = sender
        self.file = file
        consumed = file?.mark ?? .start
        self.output = output
        self.format = format
        self.logger = logger
    }

    /// Sends until the source ends, the time limit expires or the process is asked to stop.
    ///
    /// - Throws: ``CommandFailure`` or an exit code, unless all actions were applied.
    package func run(_ source: Source, to upstream: Upstream, timeout: Duration?) async throws {
        let submitted = BoundedQueue<SubmittedRequest>(maxCount: Self.maxSubmitted)
        let cause = StopCause()
        let submitting = Task {
            let result: Result<Void, any Error>
            do { result = .success(try await submitAll(source, into: submitted)) } catch { result = .failure(error) }
            await submitted.finish()
            return result
        }
        let alarm = timeout.map { timeout in
            Task {
                try await Task.sleep(for: timeout)
                cause.set("timed out after \(timeout)")
                submitting.cancel()
                await sender.close(because: "no receipt within \(timeout)")
            }
        }
        // With a session file, stop at a refusal: a later run sends the actions.
        let refusalWatch = file.map { _ in
            Task { () -> Rejection? in
                guard let reason = await refusal() else { return nil }
                cause.set(reason.message)
                submitting.cancel()
                await sender.close(because: reason.message)
                return reason
            }
        }
        var tally = await withGracefulShutdownHandler {
            await printOutcomes(of: submitted) { reason in
                if let reason { cause.set(reason) }
                submitting.cancel()
            }
        } onGracefulShutdown: {
            cause.set("interrupted")
            submitting.cancel()
            Task {
                try? await Task.sleep(for: Self.shutdownDelay)
                await sender.close(because: "interrupted")
            }
        }
        alarm?.cancel()
        let inputEnd = await submitting.value
        refusalWatch?.cancel()
        if let reason = await refusalWatch?.value { tally.setRefusal(reason) }
        switch source {
        case .single(let request): if tally.isAnswered { await logUnknownFields(of: request, within: timeout) }
        case .lines: logger.notice("\(tally.total)")
        }
        if file != nil { await sender.close() }
        let kept = file.flatMap { $0.isUnfinished ? "\($0.contents): continue with --resume" : nil }
        try tally.conclude(upstream, sender.status, inputEnd, because: cause.text, kept: kept)
    }

    /// Warns about fields that the action's example does not have: the primary ignores them, and a misspelt field may
    /// be optional.
    private func logUnknownFields(of request: ActionRequest, within timeout: Duration?) async {
        let timeout = min(timeout ?? Self.maxSchemaTime, Self.maxSchemaTime)
        guard request.payload.mapValue?.isEmpty == false,
            let known = try? await StatecastThreading.within(timeout, { try await sender.actions() })
        else { return }
        for notice in request.unknownFields(among: known) { logger.warning("\(notice)") }
    }

    private func refusal() async -> Rejection? {
        for await status in sender.statuses {
            if case .refused(let reason) = status { return reason }
        }
        return nil
    }

    /// Why the pipeline stopped early; the first cause counts.
    private final class StopCause: Sendable {
        private let stored = Locked<String?>(nil)
        var text: String? { stored.withLock { $0 } }
        func set(_ text: String) { stored.withLock { $0 = $0 ?? text } }
    }

    // MARK: Input

    private func submitAll(_ source: Source, into submitted: BoundedQueue<SubmittedRequest>) async throws {
        await submitted.enqueue(sender.resumed.map { SubmittedRequest($0) })
        var progress = InputProgress(resumingAfter: consumed)
        switch source {
        case .single(let request):
            let line = InputLine.line(number: 1, Array(request.name.utf8) + request.payload.encoded)
            guard try progress.read(line) else { break }
            // The single request has a line number only with a session file.
            let position = file.map { _ in progress.mark.position }
            await submitted.enqueue([submit(request, progress.mark, position)])
        case .lines(var lines):
            while let chunk = try await lines.next(maxCount: Self.maxEnqueued) {
                var requests: [SubmittedRequest] = []
                let failure = await submit(chunk, &progress, into: &requests)
                await submitted.enqueue(requests)
                if let failure { throw failure }
            }
        }
        try progress.finish()
        if file != nil { await sender.finishInput(at: progress.mark) }
    }

    /// Submits lines.
    ///
    /// - Returns: the error that ends the input; requests may have been submitted before.
    private func submit(
        _ lines: ArraySlice<InputLine>,
        _ progress: inout InputProgress,
        into requests: inout [SubmittedRequest]
    ) async -> (any Error)? {
        do {
            for line in lines {
                try Task.checkCancellation()
                guard try progress.read(line), let request = await submit(line, progress.mark) else { continue }
                requests.append(request)
            }
            return nil
        } catch {
            return error
        }
    }

    /// `nil` for a blank line.
    private func submit(_ line: InputLine, _ mark: InputMark) async -> SubmittedRequest? {
        do throws(MalformedLine) {
            guard let request = try ActionRequest(line) else { return nil }
            return await submit(request, mark, mark.position)
        } catch {
            // A malformed line needs a receipt only if a session file records its outcome.
            let rejection = Rejection(.malformed, error.message)
            let receipt = file == nil ? nil : await sender.reject(rejection, mark: mark)
            return SubmittedRequest(position: mark.position, content: .failure(error), receipt: receipt)
        }
    }

    private func submit(_ request: ActionRequest, _ mark: InputMark, _ position: UInt64?) async -> SubmittedRequest {
        let receipt = await sender.submit(named: request.name, payload: request.payload, mark: mark)
        return SubmittedRequest(position: position, content: .success(request.name), receipt: receipt)
    }

    // MARK: Output

    /// Prints each outcome in order. If printing fails or the session is refused, stops the input and waits for the
    /// actions in flight. Stops printing at the first outcome that is deferred to a later run, so that the order is
    /// preserved.
    private func printOutcomes(
        of submitted: BoundedQueue<SubmittedRequest>,
        stopInput: (_ reason: String?) -> Void
    ) async -> SendTally {
        var tally = SendTally()
        var canPrint = true
        // The session file drops the printed outcomes, up to the first one that was not printed.
        var canForget = file != nil
        var isKept = false
        while let batch = await submitted.dequeueAll() {
            var lines = UnprintedLines()
            var printed: PendingReceipt?
            for (index, request) in batch.enumerated() {
                var known = isKept ? nil : request.known
                if known == nil, !isKept { known = await request.outcome() }
                if let outcome = known {
                    tally.count(outcome)
                    isKept = file != nil && (outcome.kind == .kept || outcome.kind == .notSent)
                    if tally.refusal != nil {
                        stopInput(nil)
                    } else if canPrint, !isKept {
                        lines.text += outcome.line(format, position: request.position) + "\n"
                    }
                    canForget = canForget && canPrint && !isKept
                    if canForget { lines.last = request.receipt }
                } else {
                    canForget = false
                }
                // What is known reaches the reader before a wait.
                let waits = isKept || index + 1 == batch.count || batch[index + 1].known == nil
                guard waits || lines.text.utf8.count >= Self.outputBytes else { continue }
                do {
                    try await lines.write(to: output)
                    printed = lines.last
                } catch {
                    (canPrint, canForget) = (false, false)
                    (lines.text, lines.last) = ("", printed)
                    stopInput(error is OutputClosed ? Self.outputClosed : nil)
                    if let message = message(of: error) { tally.setOutputFailure(message) }
                }
            }
            if let printed { await sender.acknowledge(upTo: printed) }
        }
        return tally
    }

    private static let outputClosed = "standard output is closed"

    /// The message for an error of the output; `nil` if all outcomes may have been printed that the reader wants.
    private func message(of error: any Error) -> String? {
        switch error {
        case let failure as CommandFailure: failure.message
        // A reader may close the output early; but outcomes in a session file still have to be printed.
        case is OutputClosed where file != nil: Self.outputClosed
        default: nil
        }
    }
}

/// Lines that are written together.
private struct UnprintedLines {
    var text = ""
    /// The receipt of the last outcome that the session file may drop once the lines are written.
    var last: PendingReceipt?

    mutating func write(to output: LineOutput) async throws {
        guard !text.isEmpty else { return }
        try await output.write(raw: text)
        text = ""
    }
}

/// A bounded queue between one producer and one consumer: a slow consumer suspends the producer.
actor BoundedQueue<Element: Sendable> {
    private let maxCount: Int
    private var elements: [Element] = []
    private var isFinished = false
    private var producer: CheckedContinuation<Void, Never>?
    private var consumer: CheckedContinuation<Void, Never>?

    init(maxCount: Int) { self.maxCount = maxCount }

    /// Waits while the queue is full. The last elements may exceed its bound.
    func enqueue(_ more: [Element]) async {
        guard !more.isEmpty else { return }
        while elements.count >= maxCount { await withCheckedContinuation { producer = $0 } }
        elements += more
        resume(&consumer)
    }

    /// Marks the end of the elements.
    func finish() {
        isFinished = true
        resume(&consumer)
    }

    /// Waits for at least one element and removes all; `nil` at the end.
    func dequeueAll() async -> [Element]? {
        while elements.isEmpty, !isFinished { await withCheckedContinuation { consumer = $0 } }
        guard !elements.isEmpty else { return nil }
        defer {
            elements = []
            resume(&producer)
        }
        return elements
    }

    private func resume(_ waiter: inout CheckedContinuation<Void, Never>?) {
        waiter?.resume()
        waiter = nil
    }
}
