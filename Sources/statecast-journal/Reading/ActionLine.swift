import CommandLineSupport
internal import StateCoding
import Statecast
internal import SyncProtocol

/// What became of one action that a journal holds.
struct ActionLine {
    /// At which the state stands behind it.
    let revision: Revision
    let session: SessionID
    /// `nil` if the action could not be read.
    let name: String?
    private let number: ActionNumber
    private let run: BatchRecord.Run
    private let payload: Value?
    private let rejection: Rejection?

    /// All actions of a batch, in the order in which they were taken.
    static func lines(of batch: BatchRecord) -> [ActionLine] {
        var lines: [ActionLine] = []
        var revision = batch.from
        for run in batch.runs {
            var number = run.first
            for entry in run.entries {
                if entry.rejection == nil { revision = revision.next }
                lines.append(ActionLine(entry, of: run, number, revision))
                number = number.next
            }
        }
        return lines
    }

    private init(
        _ entry: BatchRecord.Entry,
        of run: BatchRecord.Run,
        _ number: ActionNumber,
        _ revision: Revision
    ) {
        let parts = (try? Value(decoding: entry.action))?.arrayValue
        name = parts?.first?.textValue
        payload = parts?.last
        (self.number, self.revision, self.run) = (number, revision, run)
        session = run.session
        rejection = entry.rejection
    }

    /// As a line of NDJSON.
    var json: String {
        var fields: [(key: String, value: Value)] = [("revision", Value(revision.rawValue))]
        if let rejection {
            fields += [
                ("status", .text("rejected")), ("code", .text(rejection.code.rawValue)),
                ("message", .text(rejection.message)),
            ]
        } else {
            fields.append(("status", .text("applied")))
        }
        fields += [
            ("session", .text(session.description)), ("number", Value(number.rawValue)),
            ("time", .text(run.time.text)), ("user", run.user.map { .text($0) } ?? .null),
            ("action", name.map { .text($0) } ?? .null), ("payload", payload ?? .null),
        ]
        return JSONLine(fields).description
    }
}
