import StatecastCoding
import StatecastCore
import StatecastProtocol

/// A second writer of records, with which ``RecordEntries`` is compared.
extension BatchRecord {
    /// Drops the rejection messages that the sessions will not remember: each session keeps the newest ones, up to
    /// `maxBytes` bytes.
    mutating func dropMessages(maxBytes: Int) {
        var bytes: [SessionID: Int] = [:]
        for run in runs.indices.reversed() {
            for entry in runs[run].entries.indices.reversed() {
                guard let rejection = runs[run].entries[entry].rejection else { continue }
                bytes[runs[run].session, default: 0] += rejection.message.utf8.count
                guard bytes[runs[run].session, default: 0] > maxBytes else { continue }
                runs[run].entries[entry].rejection = Rejection(rejection.code, "")
            }
        }
    }

    var encoded: [UInt8] {
        CBORWriter.bytes { writer in
            writer.array(count: migrations == nil ? 8 : 9)
            for number in [epoch.rawValue, from.rawValue, to.rawValue, summary.digest, UInt64(summary.bytes)] {
                writer.unsigned(number)
            }
            writer.array(count: runs.count)
            for run in runs { run.write(to: &writer) }
            writer.array(count: forgotten.count)
            for session in forgotten { writer.bytes(session.bytes) }
            if from == to { writer.null() } else { writer.encoded(patch) }
            if let migrations { writer.unsigned(UInt64(migrations)) }
        }
    }
}

extension BatchRecord.Run {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.array(count: 6)
        writer.bytes(session.bytes)
        writer.unsigned(opened.rawValue)
        writer.unsigned(first.rawValue)
        writer.integer(time.milliseconds)
        if let user { writer.text(user) } else { writer.null() }
        writer.array(count: entries.count)
        for entry in entries {
            if entry.rejection != nil { writer.array(count: 3) }
            writer.bytes(entry.action)
            guard let rejection = entry.rejection else { continue }
            writer.text(rejection.code.rawValue)
            writer.text(rejection.message)
        }
    }
}

extension SessionID {
    fileprivate var bytes: [UInt8] {
        [1]
            + [high, low].flatMap { bits in
                stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }
            }
    }
}
