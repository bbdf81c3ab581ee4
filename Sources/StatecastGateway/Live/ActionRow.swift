import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol

/// Writes an action of the journal as a row of the log.
struct ActionRow {
    /// The parts of payloads that no answer contains: the action's name, then the path in its payload.
    let hidden: HiddenPaths
    /// Whether a payload is written whole; otherwise one of more than ``StateNodes/maxValueBytes`` is left out.
    var isWhole = false

    /// - Parameter delay: from the record's time to its arrival here, in milliseconds.
    func write(_ action: RecordedAction, delay: Int64? = nil, to writer: inout JSONWriter) {
        let (name, payload) = (action.name, action.payload)
        writer.object { writer in
            writer.member("id", action.id.description)
            writer.member("revision", action.revision)
            Self.writeBatch(action.from, action.to, to: &writer)
            writer.member("time", action.time)
            writer.member("action", name)
            write(payload, of: name, to: &writer)
            writer.member("status", action.isApplied ? "applied" : "rejected")
            if let rejection = action.rejection {
                writer.member("code", rejection.code.rawValue)
                // A message may quote what is hidden of the payload.
                if hidden.isEmpty || name.map({ name in hidden.inside { name }.isEmpty }) ?? false {
                    writer.member("message", rejection.message)
                }
            }
            writer.member("session", action.session.description)
            writer.member("number", action.number)
            writer.member("user", action.user)
            if let delay { writer.member("delay", delay) }
        }
    }

    private func write(_ payload: Value?, of name: String?, to writer: inout JSONWriter) {
        writer.key("payload")
        let hidden = hidden.inside { name ?? "" }
        guard let payload, !hidden.hidesAll else { return writer.null() }
        var content = JSONWriter()
        content.value(payload, hiding: hidden)
        guard isWhole || content.bytes.count <= StateNodes.maxValueBytes else {
            writer.null()
            return writer.member("cut", content.bytes.count)
        }
        writer.json(content.bytes)
    }

    /// Writes a record that converted the state and has no action.
    func writeConversion(_ record: JournalRecord, at time: Timestamp?, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", "\(record.sequence).0")
            writer.member("revision", record.to)
            Self.writeBatch(record.from, record.to, to: &writer)
            writer.member("time", time)
            writer.member("action", nil as String?)
            writer.member("kind", "converted")
            writer.member("status", "applied")
        }
    }

    static func writeBatch(_ from: Revision, _ to: Revision, to writer: inout JSONWriter) {
        writer.object("batch") { writer in
            writer.member("from", from)
            writer.member("to", to)
        }
    }
}
