import StatecastCoding

/// The published state, and its position.
package struct Document<State: Sendable> {
    private var content: any DocumentContent<State>
    /// Patches that are not applied yet, merged into one.
    private var pending = PatchComposer()
    /// `nil` until a snapshot is installed, and after a step that failed.
    package private(set) var position: Position?
    private var size: DocumentSize
    /// The number of installed snapshots, to which a verification belongs.
    private var installs = 0
    /// The number of summaries that were computed here.
    private var summaries = 0
    /// A verification that was not taken or has not finished.
    private var isVerifying = false
    /// A verification for the caller to run.
    private var verification: DocumentVerification?
    /// The position at which the digest was last found to be the primary's.
    package private(set) var confirmed: Position?

    /// - Parameter maxBytes: the maximum size of the state, encoded as a snapshot.
    package init(_ content: any DocumentContent<State>, maxBytes: Int) {
        self.content = content
        size = DocumentSize(maxBytes: maxBytes)
    }

    /// Processes a batch of steps: it shows one state, regardless of the number of steps.
    ///
    /// Later steps are processed after a failure: a snapshot among them is installed and shown. The failure is reported
    /// all the same.
    package mutating func process(_ steps: [DocumentStep]) -> DocumentOutcome<State> {
        var outcome = DocumentOutcome<State>()
        let (before, confirmedBefore) = (position, confirmed)
        for step in steps {
            if case .status(let status) = step { outcome.statuses.append(status) }
            do throws(DocumentFailure) { try process(step) } catch { outcome.failure = error }
        }
        outcome.verification = takeVerification()
        do throws(DocumentFailure) {
            try applyPending()
            if position != before { outcome.shown = try snapshot() }
        } catch {
            outcome.failure = error
        }
        // No state after a failure is shown, so the replica is not live.
        if outcome.failure != nil { outcome.statuses.removeAll { $0 == .live } }
        if confirmed != confirmedBefore { outcome.confirmed = confirmed }
        return outcome
    }

    /// Processes a step. After a failed step all others are ignored until the next snapshot.
    ///
    /// A patch takes effect with ``applyPending()``.
    package mutating func process(_ step: DocumentStep) throws(DocumentFailure) {
        switch step {
        case .install(let snapshot, let target, let digest):
            position = nil
            pending = PatchComposer()
            installs += 1
            (isVerifying, verification) = (false, nil)
            try attempt(at: target) { () throws in try content.install(snapshot) }
            try check(digest, at: target)
            position = target
        case .apply(let patch, let target):
            guard position != nil else { return }
            position = nil
            pending.append(try attempt(at: target) { try Patch(decoding: patch) })
            size.grew(by: patch.count)
            position = target
        case .verify(let target, let digest):
            guard position == target, !isVerifying else { return }
            try applyPending()
            isVerifying = true
            verification = DocumentVerification(
                content: content,
                position: target,
                digest: digest,
                installs: installs,
                summaries: summaries,
                grown: size.grown
            )
        case .verified(let result):
            guard let position, result.verification.installs == installs else { return }
            isVerifying = false
            self.position = nil
            try finish(result)
            (self.position, confirmed) = (position, result.verification.position)
        case .status: break
        }
    }

    /// Takes the verification that a step demanded. Its result is the next step, whatever happened since.
    package mutating func takeVerification() -> DocumentVerification? { verification.take() }

    private mutating func finish(_ result: DocumentVerificationResult) throws(DocumentFailure) {
        let verification = result.verification
        let verified = try attempt(at: verification.position) { try result.outcome.get() }
        // A later summary may have been computed meanwhile.
        if verification.summaries == summaries {
            content.takeSummary(from: verified.content)
            size.measured(verified.summary.bytes, after: verification.grown)
        }
        try check(verified.summary, verification.digest, at: verification.position)
    }

    /// Applies the pending patches.
    package mutating func applyPending() throws(DocumentFailure) {
        guard let target = position, !pending.isEmpty else { return }
        position = nil
        let patch = pending.finish()
        try attempt(at: target) { try content.apply(patch) }
        if size.isUncertain { try check(try summary(at: target), at: target) }
        position = target
    }

    /// The state to show. Pending patches must have been applied.
    package func snapshot() throws(DocumentFailure) -> StateSnapshot<State>? {
        guard let position else { return nil }
        do { return StateSnapshot(state: try content.state(), position: position) } catch {
            throw DocumentFailure(position: position, reason: misfit(error))
        }
    }

    private mutating func check(_ digest: UInt64, at position: Position) throws(DocumentFailure) {
        try check(try summary(at: position), digest, at: position)
    }

    private func check(_ own: Summary, _ digest: UInt64, at position: Position) throws(DocumentFailure) {
        guard own.digest == digest else {
            let reason = Rejection(
                .incompatible,
                "the state at revision \(position.revision) differs from the primary's: its digest is "
                    + "\(own.digest), the primary's \(digest)"
            )
            throw DocumentFailure(position: position, reason: reason)
        }
        try check(own, at: position)
    }

    /// Updates may make the state larger than a snapshot may be.
    private func check(_ summary: Summary, at position: Position) throws(DocumentFailure) {
        guard summary.bytes > size.maxBytes else { return }
        let reason = Rejection(
            .incompatible,
            "the state at revision \(position.revision) has \(summary.bytes) bytes, more than the \(size.maxBytes) "
                + "that "
                + "this replica accepts (maxSnapshotBytes)"
        )
        throw DocumentFailure(position: position, reason: reason)
    }

    private mutating func summary(at position: Position) throws(DocumentFailure) -> Summary {
        let summary = try attempt(at: position) { try content.summary() }
        summaries += 1
        size.measured(summary.bytes, after: size.grown)
        return summary
    }

    private func misfit(_ error: any Error) -> Rejection {
        Rejection(.incompatible, "the published state does not fit \(State.self): \(error)")
    }

    private func attempt<T>(at position: Position, _ body: () throws -> T) throws(DocumentFailure) -> T {
        do { return try body() } catch { throw DocumentFailure(position: position, reason: misfit(error)) }
    }
}

/// An estimate of a state's encoded size. The exact size is recomputed at intervals.
private struct DocumentSize {
    let maxBytes: Int
    private var measured = 0
    /// The bytes of the patches since then.
    private(set) var grown = 0

    /// In canonical form (NFC) a text has up to three times the bytes that it has in a patch.
    private static let maxGrowthFactor = 3
    /// A type may add to a patch, for example default values of a row, so the size is measured regularly: after these
    /// bytes of patches, or after this part of the room that is left, whichever is more. Measuring costs as much as
    /// applying the patches.
    private static let minUnmeasuredBytes = 64 << 10
    private static let unmeasuredPart = 64

    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// - Parameter grown: the bytes of patches that the measured state contains.
    mutating func measured(_ bytes: Int, after grown: Int) {
        measured = bytes
        self.grown -= min(grown, self.grown)
    }

    /// Notes that a patch of `bytes` bytes changed the state.
    mutating func grew(by bytes: Int) { grown += bytes }

    /// Whether the state may be too large.
    var isUncertain: Bool {
        grown > max(Self.minUnmeasuredBytes, (maxBytes - measured) / Self.unmeasuredPart)
            || measured + grown * Self.maxGrowthFactor > maxBytes
    }
}

/// The comparison of a document with the primary's digest, apart from the document, which goes on changing: it costs as
/// much as all changes since the last one.
package struct DocumentVerification: Sendable {
    let content: any DocumentContent
    let position: Position
    let digest: UInt64
    let installs: Int
    let summaries: Int
    let grown: Int

    struct Verified: Sendable {
        let summary: Summary
        /// The content that knows the summary.
        let content: any Sendable
    }

    /// The step with which the document learns the outcome.
    package func run() -> DocumentStep {
        let outcome = Result {
            var content = content
            return Verified(summary: try content.summary(), content: content)
        }
        return .verified(DocumentVerificationResult(verification: self, outcome: outcome))
    }
}

/// The outcome of a verification.
package struct DocumentVerificationResult: Sendable {
    let verification: DocumentVerification
    let outcome: Result<DocumentVerification.Verified, any Error>
}

/// What a batch of steps led to.
package struct DocumentOutcome<State: Sendable> {
    /// The state to show; `nil` if there is no new one.
    package fileprivate(set) var shown: StateSnapshot<State>?
    package fileprivate(set) var statuses: [ReplicaStatus] = []
    package fileprivate(set) var failure: DocumentFailure?
    /// Where the digest was found to be the primary's.
    package fileprivate(set) var confirmed: Position?
    /// A verification for the caller to run; its result is a further step.
    package fileprivate(set) var verification: DocumentVerification?
}

/// Why a step could not be processed, and at which position.
package struct DocumentFailure: Error {
    package let position: Position
    package let reason: Rejection
}
