import StatecastCoding
import StatecastCore

/// The parts of a store that its batches use, and that do not change.
///
/// A class, so that all batches share it, and an access copies none of it.
final class BatchContext<State: Codable & Equatable & Sendable>: Sendable {
    let program: StoreProgram<State>
    let settings: StoreSettings

    init(_ program: StoreProgram<State>, _ settings: StoreSettings) {
        (self.program, self.settings) = (program, settings)
    }

    /// An action as the journal stores it; empty without a journal.
    func bytesForJournal(of action: any Action) throws(Rejection) -> [UInt8] {
        guard settings.hasJournal else { return [] }
        let bytes: [UInt8]
        do throws(CodingFailure) { bytes = try ActionTable.encode(action) } catch {
            throw Rejection(.unencodable, "the action cannot be journaled: \(error)")
        }
        guard bytes.count <= settings.limits.maxActionBytes else {
            throw .tooLarge(bytes.count, maxBytes: settings.limits.maxActionBytes)
        }
        return bytes
    }
}

/// The state of a batch while it is made, also for the middlewares.
///
/// A class, so that the layout of a batch does not depend on the type of the state: looking up such layouts took a
/// tenth of the time of an action.
///
/// A middleware may keep its store beyond the batch. It then reads the state that was published before the batch ended,
/// and dispatches directly.
///
/// Unchecked, but safe: a ``MiddlewareStore`` is not `Sendable`, and only the engine's thread changes the state.
final class BatchState<State: Codable & Equatable & Sendable>: @unchecked Sendable {
    /// The state after the reduced actions.
    var state: State
    /// Of the middlewares, if there are any.
    private let dispatcher: BufferingDispatcher?
    /// What the middlewares receive for the current actions.
    private(set) var store: MiddlewareStore<State>?

    init(_ state: State, of program: StoreProgram<State>) {
        self.state = state
        dispatcher = program.middleware.isEmpty ? nil : BufferingDispatcher(to: program.dispatcher)
    }

    var hasMiddlewares: Bool { dispatcher != nil }

    /// Makes the store for actions with a context.
    func makeStore(for context: ActionContext) {
        guard let dispatcher else { return }
        store = MiddlewareStore(context: context, dispatcher: dispatcher) { self.state }
    }

    /// Ends the use of the state by the middlewares.
    ///
    /// - Returns: the actions that they dispatched.
    func end(showing published: State) -> [any Action] {
        guard let dispatcher else { return [] }
        state = published
        // The store refers to this object.
        store = nil
        return dispatcher.end()
    }
}
