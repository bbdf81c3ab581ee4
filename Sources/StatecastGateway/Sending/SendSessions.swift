import Logging
import Statecast
import StatecastCoding
import StatecastCore
import StatecastCryptography
import StatecastJSON
import StatecastProtocol
import StatecastThreading

/// The sessions in which clients send actions to a store.
final class SendSessions: Sendable {
    private let store: String
    private let secret: [UInt8]
    private let makeSender: @Sendable (ContinuedSession) throws -> ActionSender
    private let logger: Logger
    private let sessions = Locked<[String: ClientSession]>([:])

    private static let maxIdle = Duration.seconds(600)
    /// A session that was used more recently is not closed for another one.
    private static let minIdle = Duration.seconds(10)

    init(
        of store: String,
        secret: [UInt8],
        logger: Logger,
        sender: @escaping @Sendable (ContinuedSession) throws -> ActionSender
    ) {
        (self.store, self.secret, self.logger, makeSender) = (store, secret, logger, sender)
    }

    func close() async {
        for session in sessions.withLock({ sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }) { await session.close() }
    }

    /// Opens a session, or continues one: the body is `{"session":"32 hex"}`.
    func open(_ body: Value) async throws -> [UInt8] {
        let id = try Self.id(in: body)
        let session = try session(id, opening: nil, first: 1)
        let (opening, isKnown) = try await session.opening()
        if isKnown, !session.hasSubmitted {
            // An earlier gateway sent in it. The `lowest` of the first action is where the session continues.
            sessions.withLock { if $0[id] === session { $0[id] = nil } }
            await session.close()
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("session", id)
            writer.member("opened", opening.description)
        }
        return writer.bytes
    }

    /// Sends an action, whose body has the members `session`, `opened`, `number`, `lowest`, `action` and `payload`.
    ///
    /// - Returns: the outcome, and whether it is still pending.
    func send(_ body: Value) async throws -> (json: [UInt8], isPending: Bool) {
        let id = try Self.id(in: body)
        guard let number = body["number"]?.intValue.flatMap({ UInt64(exactly: $0) }), number >= 1 else {
            throw GatewayFailure(.badRequest, "expected \"number\", the action's number in its session, from 1 on")
        }
        let lowest = body["lowest"].map { $0.intValue.flatMap { UInt64(exactly: $0) } ?? 0 } ?? number
        guard lowest >= 1, lowest <= number, number - lowest < UInt64(GatewayLimits.maxInFlight) else {
            throw GatewayFailure(
                .badRequest,
                "expected \"lowest\" to be at most \(GatewayLimits.maxInFlight - 1) below \"number\": no more actions "
                    + "may be in flight"
            )
        }
        guard let action = body["action"]?.textValue, !action.isEmpty else {
            throw GatewayFailure(.badRequest, "expected \"action\", the name of an action; GET …/schema lists them")
        }
        guard let opened = body["opened"]?.textValue.flatMap({ SessionOpening(utf8: Array($0.utf8)[...]) }) else {
            throw GatewayFailure(.badRequest, "expected \"opened\", as POST …/sessions returned it")
        }
        let payload = Self.decoded(body["payload"] ?? [:])
        let content = Value.array([.text(action), payload]).encoded
        let outcome = try await session(id, opening: opened, first: lowest).send(
            number,
            opened: opened,
            lowest: lowest,
            action: action,
            payload: payload,
            digest: ShortDigest(of: content, domain: "sc-client-action")
        )
        return Self.json(number, outcome)
    }

    private static func json(_ number: UInt64, _ outcome: ClientSession.Outcome) -> (json: [UInt8], isPending: Bool) {
        var (writer, isPending) = (JSONWriter(), false)
        writer.object { writer in
            writer.member("number", number)
            switch outcome {
            case .applied(let revision):
                writer.member("status", "applied")
                writer.member("revision", revision)
            case .rejected(let rejection):
                writer.member("status", "rejected")
                writer.member("code", rejection.code.rawValue)
                writer.member("message", rejection.message)
            case .unknown(let message):
                writer.member("status", "unknown")
                writer.member("message", message)
            case .pending:
                writer.member("status", "pending")
                isPending = true
            }
        }
        return (writer.bytes, isPending)
    }

    private static func id(in body: Value) throws -> String {
        guard let id = body["session"]?.textValue, SessionID(id) != nil else {
            throw GatewayFailure(.badRequest, "expected \"session\" with 32 lower-case hexadecimal digits")
        }
        return id
    }

    /// A payload as the client meant it: `{"$int":"…"}` is an integer, `{"$bytes":"…"}` a byte string.
    private static func decoded(_ value: Value) -> Value {
        switch value {
        case .array(let elements): return .array(elements.map(decoded))
        case .map(let map):
            if map.count == 1, let (key, content) = map.first, let text = content.textValue {
                switch key.textValue {
                case "$int":
                    if let number = Int64(text).map({ Value($0) }) ?? UInt64(text).map({ Value($0) }) { return number }
                case "$bytes": if let bytes = Base64.bytes(text) { return .bytes(bytes) }
                case "$float":
                    let numbers = ["nan": Double.nan, "infinity": .infinity, "-infinity": -.infinity]
                    if let number = numbers[text] { return .float(number) }
                default: break
                }
            }
            return .map(
                ValueMap(
                    map.map { key, content in
                        guard let name = key.textValue, name.hasPrefix("$$") else { return (key, decoded(content)) }
                        return (.text(String(name.dropFirst())), decoded(content))
                    }
                )
            )
        default: return value
        }
    }

    /// The session of a client, which begins or continues if it is not known here.
    private func session(_ id: String, opening: SessionOpening?, first: UInt64) throws -> ClientSession {
        var closed: [ClientSession] = []
        defer { for session in closed { Task { await session.close() } } }
        return try sessions.withLock { sessions in
            if let session = sessions[id] {
                guard opening != nil, session.lacks(numbersBefore: first) else { return session }
                closed.append(session)
                sessions[id] = nil
            }
            let idle = ContinuousClock.now - Self.maxIdle
            func drop(_ id: String) { sessions.removeValue(forKey: id).map { closed.append($0) } }
            for (id, session) in sessions where session.lastUse < idle || session.isEnded { drop(id) }
            if sessions.count >= GatewayLimits.maxSessions {
                // Its client can continue it.
                let unused = sessions.filter { !$0.value.hasOpenActions && $0.value.lastUse < .now - Self.minIdle }
                if let longest = unused.min(by: { $0.value.lastUse < $1.value.lastUse }) { drop(longest.key) }
            }
            guard sessions.count < GatewayLimits.maxSessions else {
                throw GatewayFailure(
                    .busy,
                    "\(GatewayLimits.maxSessions) sessions send already; try again later",
                    retryAfter: 10
                )
            }
            let digest = ShortDigest(of: secret + Array(store.utf8) + [0] + Array(id.utf8), domain: "sc-client")
            let session = try ClientSession(
                SessionSecret(high: digest.high, low: digest.low),
                opening: opening,
                first: ActionNumber(first),
                sender: makeSender,
                logger: logger
            )
            sessions[id] = session
            return session
        }
    }
}
