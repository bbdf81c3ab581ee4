package import Foundation
import StatecastCoding

/// An encoder and a decoder, which are reused for many values.
package protocol Coder {
    associatedtype Bytes

    init()
    func encode(_ value: some Encodable) throws -> Bytes
    func decode<Coded: Decodable>(_ type: Coded.Type, from bytes: Bytes) throws -> Coded
}

/// The reference, without options.
package struct FoundationJSON: Coder {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    package init() {}

    package func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

    package func decode<Coded: Decodable>(_ type: Coded.Type, from bytes: Data) throws -> Coded {
        try decoder.decode(type, from: bytes)
    }
}

package struct Statecast: Coder {
    private let encoder = StateEncoder()
    private let decoder = StateDecoder()

    package init() {}

    package func encode(_ value: some Encodable) throws -> [UInt8] { try encoder.encode(value) }

    package func decode<Coded: Decodable>(_ type: Coded.Type, from bytes: [UInt8]) throws -> Coded {
        try decoder.decode(type, from: bytes)
    }
}

/// An action with one field.
package struct StepChangeRequested: Codable, Equatable, Sendable {
    let step: Int

    package init(step: Int) {
        self.step = step
    }
}

/// Actions as the cases of an enum.
package enum FleetAction: Codable, Equatable, Sendable {
    case allStopped
    case loadChanged(load: Int)
    case vehicleRenamed(name: String)
}
