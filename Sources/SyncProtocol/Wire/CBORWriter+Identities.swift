import StateCoding
import StateCore

/// What frames and records are made of.
extension CBORWriter {
    mutating func write(_ lineage: Lineage) { bytes(Hexadecimal.bigEndian(lineage.bits)) }
    mutating func write(_ session: SessionID) {
        bytes(Hexadecimal.bigEndian(session.high) + Hexadecimal.bigEndian(session.low))
    }
    mutating func write(_ quantity: some Quantity) { unsigned(quantity.rawValue) }
    mutating func write(count: Int) { unsigned(UInt64(count)) }
    mutating func write(_ duration: Duration) { unsigned(UInt64(max(0, duration.milliseconds))) }
    mutating func write(_ time: Timestamp) { integer(time.milliseconds) }
    mutating func write(_ rejection: Rejection) {
        text(rejection.code.rawValue)
        text(rejection.message)
    }
    mutating func write(_ outcomes: [Outcome]) {
        array(count: outcomes.count)
        for outcome in outcomes {
            switch outcome {
            case .applied(let revision): write(revision)
            case .rejected(let rejection):
                array(count: 2)
                write(rejection)
            }
        }
    }
}
