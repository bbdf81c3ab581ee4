import Foundation
import StatecastCore
import Testing

@Suite struct `An action` {
    private struct DoorOpened: Action {}

    private struct Renamed: Action {
        static let name = "door-closed"
        static let example: Self? = Self()
    }

    @Test func `An action is named after its type`() {
        #expect(DoorOpened.name == "DoorOpened")
        let type: any Action.Type = DoorOpened.self
        #expect(type.name == "DoorOpened")
    }

    @Test func `An action may declare its name`() {
        let type: any Action.Type = Renamed.self
        #expect(type.name == "door-closed")
    }

    @Test func `An action has an example only if it declares one`() {
        #expect(DoorOpened.example == nil)
        #expect(Renamed.example != nil)
        let type: any Action.Type = Renamed.self
        #expect(type.example is Renamed)
    }
}

@Suite struct `A timestamp` {
    @Test func `A timestamp advances by a duration, in milliseconds`() {
        let time = Timestamp(milliseconds: 1_000)
        #expect(time.advanced(by: .seconds(2)) == Timestamp(milliseconds: 3_000))
        #expect(time.advanced(by: .milliseconds(-1_500)) == Timestamp(milliseconds: -500))
    }

    @Test(arguments: [(1_999, 1), (-1_999, -1), (999, 0), (-999, 0)])
    func `A timestamp truncates fractions of a millisecond`(microseconds: Int, milliseconds: Int64) {
        #expect(Timestamp.epoch.advanced(by: .microseconds(microseconds)) == Timestamp(milliseconds: milliseconds))
    }

    @Test func `A timestamp clamps at both ends instead of trapping`() {
        let almostLatest = Timestamp(milliseconds: .max - 1)
        #expect(almostLatest.advanced(by: .milliseconds(1)) == .latest)
        #expect(almostLatest.advanced(by: .milliseconds(2)) == .latest)
        #expect(Timestamp.latest.advanced(by: Duration(attoseconds: .max)) == .latest)
        #expect(Timestamp.epoch.advanced(by: Duration(attoseconds: .min)) == .earliest)
        #expect(Timestamp(milliseconds: .min + 1).advanced(by: .milliseconds(-2)) == .earliest)
    }

    @Test func `A timestamp computes every distance exactly`() {
        let span = Timestamp.earliest.duration(to: .latest)
        #expect(span == .milliseconds(Int128(Int64.max) - Int128(Int64.min)))
        #expect(Timestamp.latest.duration(to: .earliest) == .zero - span)
        #expect(Timestamp.earliest.advanced(by: span) == .latest)
    }

    @Test func `A timestamp is ordered by time`() {
        #expect(Timestamp.earliest < .epoch)
        #expect(Timestamp.epoch < .latest)
        #expect(!(Timestamp.epoch < .epoch))
    }

    @Test func `A timestamp is encoded as one integer`() throws {
        let time = Timestamp(milliseconds: 1_700_000_000_123)
        let text = try JSONEncoder().encode([time])
        #expect(String(decoding: text, as: UTF8.self) == "[1700000000123]")
        #expect(try JSONDecoder().decode([Timestamp].self, from: text) == [time])
    }
}
