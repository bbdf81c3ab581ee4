import StatecastCoding

/// The part of each simulated state that shows which actions were applied.
struct Ledger: Codable, Hashable, Sendable {
    /// The number of applied actions.
    private(set) var count = 0
    /// The last serial number of each sender, without those of effects.
    private(set) var last: [String: UInt32] = [:]
    /// The last applied actions: the `n`th one, from 0, at index `n % maxRecent`.
    private(set) var recent: [UInt64] = []
    /// The first action that was applied again, or out of order.
    private(set) var fault: String?

    static let maxRecent = 16

    private enum CodingKeys: String, CodingKey {
        case count = "c"
        case last = "l"
        case recent = "r"
        case fault = "f"
    }

    mutating func apply(_ id: WorkID) {
        if recent.count < Self.maxRecent { recent.append(id.bits) } else { recent[count % Self.maxRecent] = id.bits }
        count += 1
        // An effect submits one action. `StoreHistory` notices it if that is applied twice.
        guard id.sender < WorkID.firstEffectSender else { return }
        let sender = "\(id.sender)"
        if let before = last[sender], before >= id.serial, fault == nil { fault = "\(id) after \(before)" }
        last[sender] = id.serial
    }
}

extension Ledger {
    /// Reads the ledger of a published state.
    init?(in state: Value) {
        guard let value = state["ledger"], let ledger = try? StateDecoder().decode(Ledger.self, from: value) else {
            return nil
        }
        self = ledger
    }

    /// The actions from the `first`th one on, as far as they are remembered.
    func actions(from first: Int) -> [(index: Int, id: WorkID)] {
        (max(first, count - recent.count)..<max(first, count)).map { index in
            (index, WorkID(bits: recent[index % Self.maxRecent]))
        }
    }
}
