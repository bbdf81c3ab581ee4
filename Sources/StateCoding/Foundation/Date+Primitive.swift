#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Seconds since 2001 as a plain float, as its own coding has it.
///
/// That is the number that a date holds, so it comes back the same. Seconds since 1970, as tag 1 has them, do not: near
/// the present half of all dates would be rounded, and a second form for those could not be told apart in JSON. Dates
/// in standard forms are understood where they come: tags 0, 1, 100 and 1004, and the text of RFC 3339 without a tag.
extension Date: TagReader {
    private enum Tag {
        static let text: UInt64 = 0
        static let secondsSince1970: UInt64 = 1
        /// RFC 8943.
        static let daysSince1970: UInt64 = 100
    }

    var tree: Value { .float(timeIntervalSinceReferenceDate) }

    init?(tree: Value) {
        switch tree {
        case .tagged(Tag.secondsSince1970, let content):
            if let seconds = content.exactSeconds, let since2001 = Self.since2001(seconds) {
                self.init(timeIntervalSinceReferenceDate: Double(since2001))
            } else if let seconds = Double(tree: content) {
                self.init(timeIntervalSince1970: seconds)
            } else {
                return nil
            }
        case .tagged(Tag.daysSince1970, let content):
            guard let days = content.exactSeconds, (-Self.daysMax...Self.daysMax).contains(days),
                let since2001 = Self.since2001(days * 86_400)
            else { return nil }
            self.init(timeIntervalSinceReferenceDate: Double(since2001))
        case .tagged(Tag.text, let content) where content.textValue == nil: return nil
        case .tagged(_, let content): self.init(tree: content)
        case .text(let text):
            guard let seconds = Double(nonFinite: text) ?? InternetTime.secondsSince2001(text) else { return nil }
            self.init(timeIntervalSinceReferenceDate: seconds)
        default:
            guard let seconds = Double(tree: tree) else { return nil }
            self.init(timeIntervalSinceReferenceDate: seconds)
        }
    }

    /// More than five million years; the seconds of so many days fit 64 bits by far.
    private static let daysMax = Int64(Int32.max)

    private static func since2001(_ since1970: Int64) -> Int64? {
        let (seconds, overflow) = since1970.subtractingReportingOverflow(Int64(timeIntervalBetween1970AndReferenceDate))
        return overflow ? nil : seconds
    }

    func write(to writer: inout CBORWriter) { writer.float(timeIntervalSinceReferenceDate) }

    static func readUsual(_ cursor: inout ItemCursor) -> Date? {
        cursor.takeFloat().map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    static var sample: Date { Date(timeIntervalSinceReferenceDate: 0) }
    static var expected: String { "a date (seconds since 2001, or a text as in RFC 3339)" }
}

extension Value {
    fileprivate var exactSeconds: Int64? {
        if case .float = self { nil } else { integer(Int64.self) }
    }
}
