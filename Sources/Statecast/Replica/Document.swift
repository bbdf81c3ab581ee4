/// The state as it was published, without its type: a value tree that patches are applied to, and its summary.
struct Document {
    private var value = Value.null
    private var summary = Summary(digest: 0, bytes: 0)
    /// `nil` until a snapshot is installed, and again once a step failed.
    private(set) var position: Position?

    /// Why a step could not be taken, and where that leaves the replica.
    struct Failure: Error {
        let position: Position
        let reason: Rejection
    }

    /// Takes a step. Steps behind one that failed are ignored until the next snapshot.
    mutating func take(_ step: DocumentStep) throws(Failure) {
        switch step {
        case .install(let snapshot, let target, let digest):
            position = nil
            value = try attempt(at: target) { () throws(CodingFailure) in try Value(decoding: snapshot) }
            summary = Summary(of: value)
            try check(digest, at: target)
            position = target
        case .apply(let patch, let target):
            guard position != nil else { return }
            position = nil
            try attempt(at: target) { () throws(CodingFailure) in
                try Patch(decoding: patch).apply(to: &value, summary: &summary)
            }
            position = target
        case .verify(let target, let digest):
            guard position == target else { return }
            position = nil
            try check(digest, at: target)
            position = target
        case .status: break
        }
    }

    /// The state in its type.
    func decoded<State>(_ decode: (Value) throws -> State) throws(Failure) -> StateSnapshot<State>? {
        guard let position else { return nil }
        do { return StateSnapshot(state: try decode(value), position: position) } catch {
            let reason = Rejection(.incompatible, "the published state does not fit \(State.self): \(error)")
            throw Failure(position: position, reason: reason)
        }
    }

    private func check(_ digest: UInt64, at position: Position) throws(Failure) {
        guard summary.digest == digest else {
            let reason = Rejection(
                .incompatible,
                "the state at revision \(position.revision) differs from the primary's: its digest is "
                    + "\(summary.digest), the primary's \(digest)"
            )
            throw Failure(position: position, reason: reason)
        }
    }

    private func attempt<T>(at position: Position, _ body: () throws(CodingFailure) -> T) throws(Failure) -> T {
        do { return try body() } catch {
            throw Failure(
                position: position,
                reason: Rejection(.incompatible, "what was published cannot be read: \(error)")
            )
        }
    }
}
