@testable import Statecast
@testable import StatecastZeroMQ

/// Laws of what decides who may connect, which hold for any bytes: access lists, key files, and requests of ZeroMQ's
/// authentication protocol (ZAP). Tests and a fuzzer check them.
///
/// The first byte of an input chooses the reader.
enum AccessLaws {
    static func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        var script = Script(bytes.prefix(Script.maxBytes))
        switch script.below(4) {
        case 0: try AccessListLaws.check(text(of: script.rest(), words: wordsOfLists))
        case 1: try AccessListLaws.checkPattern(script.rest())
        case 2: try checkRequest(&script)
        default: try checkKeyFile(Array(text(of: script.rest(), words: wordsOfKeyFiles).utf8))
        }
    }

    /// The text that the bytes of an input stand for: ASCII for itself, and every other byte for a word.
    private static func text(of bytes: [UInt8], words: [String]) -> String {
        bytes.reduce(into: "") { text, byte in
            if byte < 0x80 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += words[Int(byte) % words.count]
            }
        }
    }

    private static let wordsOfLists = [
        "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7 kiosk", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID board",
        "c[cR@eg&FcfFLssg=mfIi5%2YjuU>)kTv.7l}6Nn kiosk", " follow=", " send=", "fleet", "fleet/", ",counter/", "Host*",
        "*", "\n", "\r\n", "\u{85}", "\u{2028}", "\u{301}", "é",
    ]

    /// Two pairs of keys.
    private static let wordsOfKeyFiles = [
        "public rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6",
        "public Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "secret D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs",
        "public ", "secret ", "\n", "\r\n", "é",
    ]

    // MARK: Requests

    /// A request that is permitted.
    private static let request: [[UInt8]] = [
        [0, 1, 2, 3, 4], [], Array("1.0".utf8), Array("1".utf8), Array("states".utf8), Array("127.0.0.1".utf8), [],
        Array("CURVE".utf8), [UInt8](repeating: 7, count: 32),
    ]

    /// A reply names its request, and permits only what has all parts of a permitted request.
    private static func checkRequest(_ script: inout Script) throws(BrokenLaw) {
        var frames: [[UInt8]] = []
        for index in 0..<script.below(12) {
            var frame = request[index % request.count]
            switch script.below(5) {
            case 0: frame = script.data()
            case 1: frame = script.element(of: request) ?? []
            case 2: frame.append(script.byte())
            case 3: if !frame.isEmpty { frame[script.below(frame.count)] ^= script.byte() }
            default: break
            }
            frames.append(frame)
        }
        let reply = AuthenticationHandler.answer(to: frames) { domain, key in
            domain == "states" && key.bytes == request[8] ? "kiosk" : nil
        }
        guard let reply else { return try require(frames.count < 4, "no reply to \(frames)") }
        try require(
            reply.count == 8 && reply[0..<2] == frames[0..<2] && reply[2] == request[2] && reply[3] == frames[3],
            "\(reply) does not name its request \(frames)"
        )
        let isPermitted = frames.count == 9 && [2, 4, 7, 8].allSatisfy { frames[$0] == request[$0] }
        let status = String(decoding: reply[4], as: UTF8.self)
        try require(
            isPermitted ? status == "200" : ["300", "500"].contains(status),
            "\(frames) gets the status \(status)"
        )
        try require(
            reply[6] == Array((isPermitted ? "kiosk" : "").utf8) && reply[7].isEmpty,
            "\(frames) gets the user \(reply[6]) and the properties \(reply[7])"
        )
    }

    // MARK: Key files

    /// Keys that are read are those of the file's two lines. A refusal quotes nothing of the file.
    private static func checkKeyFile(_ bytes: [UInt8]) throws(BrokenLaw) {
        let keys: CurveKeyPair
        do throws(StatecastError) { keys = try NodeKeys.keys(in: bytes, of: "node.key") } catch {
            try require(error.code == .keys, "a key file is refused with \(error)")
            // All but the first word of a line.
            for key in wordsOfKeyFiles.map({ $0.dropFirst(7) }) where key.count == 40 {
                try require(!"\(error)".contains(key), "a refusal quotes the file: \(error)")
            }
            return
        }
        let secret = keys.withSecretText { String(decoding: $0.dropLast(), as: UTF8.self) }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
            .filter { $0.first ?? UInt8(ascii: "#") != UInt8(ascii: "#") }
            .map { String(decoding: $0, as: UTF8.self) }
        try require(
            lines.sorted() == ["public \(keys.publicKey)", "secret \(secret)"],
            "the keys of \(keys.publicKey) are read from \(lines)"
        )
    }
}
