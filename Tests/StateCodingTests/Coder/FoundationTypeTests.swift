import Foundation
import StateCoding
import Testing

@Suite struct `Types of Foundation` {
    @Test func `come back through their own coding`() throws {
        let data = Data([1, 2, 255])
        let date = Date(timeIntervalSinceReferenceDate: 1.25)
        let encoder = StateEncoder()
        #expect(try StateDecoder().decode(Data.self, from: encoder.encode(data)) == data)
        #expect(try StateDecoder().decode(Data.self, from: .bytes([1, 2, 255])) == data)
        #expect(try StateDecoder().decode(Date.self, from: encoder.encode(date)) == date)
        #expect(try encoder.value(of: date) == 1.25)
    }
}
