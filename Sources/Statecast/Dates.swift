#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Date {
    /// The date of a timestamp, to show it or to compute with a calendar.
    ///
    /// ```swift
    /// let reducer = Reducer<Visits>.withContext { visits, action, context in
    ///     if action is DoorOpened { visits.last = context.time }
    ///     return .none
    /// }
    /// Text(Date(visits.last), style: .time)
    /// ```
    ///
    /// Exact to the millisecond within 100,000 years of the present.
    public init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.milliseconds) / 1_000)
    }
}

extension Timestamp {
    /// The timestamp of a date: the nearest millisecond, clamped to the earliest and the latest timestamp.
    ///
    /// A date that is not a number gives ``Timestamp/epoch``.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        self =
            if milliseconds.isNaN { .epoch } else if let exact = Int64(exactly: milliseconds) {
                Timestamp(milliseconds: exact)
            } else { milliseconds < 0 ? .earliest : .latest }
    }
}
