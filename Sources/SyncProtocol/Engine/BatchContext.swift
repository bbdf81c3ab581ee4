internal import StateCoding
import StateCore

/// The parts of a store that a batch uses.
///
/// A class, so that the batch and its parts share it, and an access copies none of it.
final class BatchContext<State: Codable & Equatable & Sendable>: Sendable {
    let program: StoreProgram<State>
    let settings: StoreSettings
    let suspects: Suspects
    /// The time at which the actions are reduced.
    let time: Timestamp

    init(program: StoreProgram<State>, settings: StoreSettings, suspects: Suspects, time: Timestamp) {
        (self.program, self.settings, self.suspects, self.time) = (program, settings, suspects, time)
    }

    /// An action as the journal stores it; empty without a journal.
    func bytesForJournal(of action: any Action) throws(Rejection) -> [UInt8] {
        guard settings.hasJournal else { return [] }
        let bytes: [UInt8]
        do throws(CodingFailure) { bytes = try ActionTable.encode(action) } catch {
            throw Rejection(.unencodable, "the action cannot be journaled: \(error)")
        }
        guard bytes.count <= settings.limits.actionBytesMax else {
            throw .tooLarge(bytes.count, bytesMax: settings.limits.actionBytesMax)
        }
        return bytes
    }
}

/// The state of a batch for its middlewares, and their dispatcher.
///
/// A middleware may keep its store beyond the batch. It then reads the state that was published before the batch ended,
/// and dispatches directly.
///
/// Unchecked, but safe: a ``MiddlewareStore`` is not `Sendable`, and only the engine's thread changes the state.
final class MiddlewareState<State: Sendable>: @unchecked Sendable {
    /// The state of the batch while a frame, or an action of the primary's own process, is reduced.
    var state: State
    let dispatcher: BufferingDispatcher

    init(_ state: State, dispatcher: any ActionDispatcher) {
        self.state = state
        self.dispatcher = BufferingDispatcher(to: dispatcher)
    }
}
