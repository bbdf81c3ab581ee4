import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastProtocol
import Testing

/// The walk-throughs, executed by the real machines: every message of the document in its order, and no other.
@Suite struct `The protocol's document: walk-throughs` {
    private static let document = ProtocolDocument.shared

    private static func steps(in section: String) -> [ProtocolDocument.Block] {
        document.blocks("subscribe", "unsubscribe", "frame", "push", in: section)
    }

    @Test func `a replica joins as the protocol's document describes`() throws {
        let steps = Self.steps(in: "A replica joins")
        var primary = try DocumentPrimary()
        var replica = try DocumentReplica(nonce: 0x9F3C_61D2_A07B_E458)
        try replica.start()
        for step in steps {
            if step.name == "live-update" {
                try primary.change(step: 1)
            }
            if step.name == "live-heartbeat" { primary.tick() }
            switch step.kind {
            case "frame":
                let message = primary.published.popFirst() ?? []
                #expect(message == step.message, "\(step.name)")
                try replica.receive(message)
            default:
                let request = replica.requests.popFirst() ?? .none
                #expect(request == step.request)
                primary.receive(request)
            }
        }
        #expect(primary.published.isEmpty && replica.requests.isEmpty && steps.count == 10)
        #expect(replica.value == (try JSON.value(parsing: #"{"step": 1, "counter": 5}"#)))
        #expect(replica.verified == 1 && replica.status == .live)
    }

    @Test func `a sender sends as the protocol's document describes`() throws {
        let steps = Self.steps(in: "A sender sends two actions, one is rejected")
        var primary = try DocumentPrimary()
        var sender = try DocumentSender(SessionSecret(high: 0x5ca1_ab1e_0ddb_a11f, low: 0x00dc_afe5_eed5_eaf1))
        sender.start()
        for step in steps {
            switch step.kind {
            case "frame":
                let message = primary.published.popFirst() ?? []
                #expect(message == step.message, "\(step.name)")
                if step.name == "both-receipts" {
                    // The message is lost: the sender repeats its request.
                    var informed = sender
                    try informed.receive(message)
                    #expect(informed.outcomes.count == 2)
                    sender.advanceToDeadline()
                } else {
                    try sender.receive(message)
                }
            case "push":
                let message = sender.push([["StepChangeRequested", ["step": 1]], ["Jump", [:]]]) ?? []
                #expect(message == step.message)
                primary.reduce(message)
            default:
                let request = sender.requests.popFirst() ?? .none
                #expect(request == step.request)
                primary.receive(request)
            }
        }
        #expect(primary.published.isEmpty && sender.requests.isEmpty && steps.count == 8)
        let rejection = Rejection(.unknownAction, #"there is no action "Jump""#)
        let position = Position(lineage: DocumentPrimary.lineage, epoch: Epoch(1), revision: Revision(3))
        #expect(sender.outcomes == [.success(position), .failure(rejection)])
    }
}

/// The request that a peer makes by a subscription.
struct DocumentRequest: Equatable {
    let begins: Bool
    let topic: [UInt8]

    /// No request.
    static let none = DocumentRequest(begins: false, topic: [])
}

extension ProtocolDocument.Block {
    /// The whole message of a `frame` or `push` block.
    fileprivate var message: [UInt8] { Array(text("topic").utf8) + [0] + bytes }

    /// The request of a `subscribe` or `unsubscribe` block.
    fileprivate var request: DocumentRequest {
        DocumentRequest(begins: kind == "subscribe", topic: Array(lines.joined().utf8) + [0])
    }
}
