internal import Dispatch
internal import ServiceLifecycle
package import Statecast
internal import Synchronization

/// Sends what is asked for, pipelined, and shows the receipts in order.
package struct Sending: Sendable {
    private let sender: ActionSender
    private let output: LineOutput
    private let asJSON: Bool

    /// Where the requests come from.
    package enum Source: Sendable {
        /// One action.
        case single(ActionRequest)
        /// A request on each line, blank ones skipped.
        case lines(InputLines)
    }

    private enum Submitted: Sendable {
        case malformed(line: Int, LineFault)
        case taken(name: String, PendingReceipt)
    }

    /// How many may be on their way; beyond, no more input is read.
    private static let submittedMax = 4096
    /// How long a signal leaves for receipts that are on their way.
    private static let grace = Duration.seconds(1)

    /// A command's way to send.
    package init(_ sender: ActionSender, output: LineOutput, asJSON: Bool) {
        self.sender = sender
        self.output = output
        self.asJSON = asJSON
    }

    /// Sends until the source ends, the time is over or the process is asked to stop, and tells how the command ends.
    ///
    /// - Throws: ``CommandFailure`` or an exit code, unless all was applied.
    package func run(_ source: Source, to upstream: Upstream, timeout: Duration?) async throws {
        let submitted = ReceiptQueue<Submitted>(countMax: Self.submittedMax)
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
        let tally = await withGracefulShutdownHandler {
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
        try tally.conclude(upstream, sender.status, because: cause.text)
        if case .failure(let error) = fed, !(error is CancellationError) { throw error }
        if let text = cause.text, case .failure = fed { throw CommandFailure.failed("\(text) before the input ended") }
    }

    /// Why the sending stopped before its end; the first cause counts.
    private final class StopCause: Sendable {
        private let stored = Mutex<String?>(nil)
        var text: String? { stored.withLock { $0 } }
        func set(_ text: String) { stored.withLock { $0 = $0 ?? text } }
    }

    // MARK: In

    private func feed(_ source: Source, into submitted: ReceiptQueue<Submitted>) async throws {
        switch source {
        case .single(let request): await submit(request, into: submitted)
        case .lines(let lines):
            try await lines.forEach { line in
                try Task.checkCancellation()
                await take(line, into: submitted)
            }
        }
    }

    private func take(_ line: InputLine, into submitted: ReceiptQueue<Submitted>) async {
        switch line {
        case .line(_, let bytes) where bytes.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }): break
        case .line(let number, let bytes):
            do throws(LineFault) { await submit(try ActionRequest(line: bytes), into: submitted) } catch {
                await submitted.append(.malformed(line: number, error))
            }
        case .tooLong(let number):
            let fault = LineFault(message: "longer than \(InputLines.lineBytesMax) bytes")
            await submitted.append(.malformed(line: number, fault))
        }
    }

    private func submit(_ request: ActionRequest, into submitted: ReceiptQueue<Submitted>) async {
        let receipt = await sender.submit(named: request.name, payload: request.payload)
        await submitted.append(.taken(name: request.name, receipt))
    }

    // MARK: Out

    /// Shows each receipt as its turn comes. If the reader goes away, or the session is refused, no more is taken in;
    /// what is on its way is seen through.
    private func show(_ submitted: ReceiptQueue<Submitted>, stopFeeding: () -> Void) async -> SendTally {
        var tally = SendTally()
        var isShown = true
        while let batch = await submitted.take() {
            for entry in batch {
                guard let result = await result(of: entry) else { continue }
                tally.count(result)
                if tally.refusal != nil {
                    stopFeeding()
                } else if isShown {
                    isShown = (try? await output.write(asJSON ? result.json : result.text)) != nil
                    if !isShown { stopFeeding() }
                }
            }
        }
        return tally
    }

    /// `nil` only if this task is cancelled: at the end of the time that a signal leaves.
    private func result(of entry: Submitted) async -> SendResult? {
        switch entry {
        case .malformed(let line, let fault): .malformed(line: line, fault)
        case .taken(let name, let receipt): (try? await receipt.outcome()).map { .settled(name: name, $0) }
        }
    }
}
