package import Foundation
import StateCoding

/// What is compared: an encoder and a decoder, both kept for many values, as a program would.
package protocol Coder {
    associatedtype Bytes

    init()
    func encode(_ value: some Encodable) throws -> Bytes
    func decode<Coded: Decodable>(_ type: Coded.Type, from bytes: Bytes) throws -> Coded
}

/// The reference: without options, as it comes.
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
