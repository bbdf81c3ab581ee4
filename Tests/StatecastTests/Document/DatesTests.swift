import Foundation
import Statecast
import Testing

@Suite struct `A date` {
    @Test(arguments: [0, 1, -1, 999, 1_764_331_200_123, -62_135_596_800_001, 3_155_760_000_000_000])
    func `A date of a timestamp is that timestamp again`(milliseconds: Int64) {
        let timestamp = Timestamp(milliseconds: milliseconds)
        #expect(Timestamp(Date(timestamp)) == timestamp)
        #expect(abs(Date(timestamp).timeIntervalSince1970 - Double(milliseconds) / 1_000) < 0.000_5)
    }

    @Test func `A date is rounded to the nearest millisecond`() {
        #expect(Timestamp(Date(timeIntervalSince1970: 1.000_6)) == Timestamp(milliseconds: 1_001))
        #expect(Timestamp(Date(timeIntervalSince1970: -1.000_6)) == Timestamp(milliseconds: -1_001))
    }

    @Test func `A date beyond the timestamps becomes the nearest of them`() {
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == .latest)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e300)) == .latest)
        #expect(Timestamp(Date(timeIntervalSince1970: -1e300)) == .earliest)
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)) == .epoch)
        #expect(Timestamp(Date(.latest)) == .latest)
        #expect(Timestamp(Date(.earliest)) == .earliest)
    }
}
