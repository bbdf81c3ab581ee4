import StateCoding
import Statecast

/// Makes whoever asks for the state wait at a gate.
struct GatedContent<Content: DocumentContent>: DocumentContent {
    private var content: Content
    private let gate: Gatekeeper

    init(_ content: Content, gate: Gatekeeper) {
        self.content = content
        self.gate = gate
    }

    mutating func install(_ snapshot: [UInt8]) throws { try content.install(snapshot) }
    mutating func apply(_ patch: Patch) throws { try content.apply(patch) }
    mutating func summary() throws -> Summary { try content.summary() }

    func state() throws -> Content.State {
        gate.pass()
        return try content.state()
    }
}
