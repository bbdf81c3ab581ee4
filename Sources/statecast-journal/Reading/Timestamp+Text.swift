import Foundation
import Statecast

extension Timestamp {
    /// The present.
    static var now: Timestamp { Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)) }

    /// In RFC 3339; the milliseconds since 1970 where that has no form for it.
    var text: String {
        guard (Self.firstYear...Self.lastYear).contains(milliseconds) else { return "\(milliseconds)" }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The years 1 to 9999, in milliseconds since 1970.
    private static let firstYear: Int64 = -62_135_596_800_000
    private static let lastYear: Int64 = 253_402_300_799_999
}
