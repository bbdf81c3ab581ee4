import Foundation
import Statecast
import Testing

@Suite struct `An access list` {
    private static let key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
    private static let other = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

    @Test func `An access list of the page for operators can be used`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/SECURING.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
        let text = try #require(blocks.first { $0.hasPrefix("text\n") && $0.contains("permissions") })
        let lines = text.split(separator: "\n").dropFirst().map { "\($0.drop { $0 == " " })\n" }
        let list = try AccessList(parsing: lines.joined())
        #expect(list.maySend("any", to: "fleet", user: "kiosk-1") && !list.maySend("any", to: "fleet", user: "board"))
        #expect(list.mayFollow("anything", user: "board") && !list.mayFollow("anything", user: "kiosk-1"))
    }

    @Test func `An access list denies what no line permits`() throws {
        let list = try AccessList(parsing: "\(Self.key) kiosk follow=fleet send=fleet/HostAdded\n")
        let (key, other) = (try #require(NodePublicKey(Self.key)), try #require(NodePublicKey(Self.other)))
        #expect(list.user(of: key) == "kiosk" && list.user(of: other) == nil)
        #expect(list.mayFollow("fleet", user: "kiosk") && !list.mayFollow("counter", user: "kiosk"))
        #expect(list.maySend("HostAdded", to: "fleet", user: "kiosk"))
        #expect(!list.maySend("HostAdded", to: "counter", user: "kiosk"))
        #expect(!list.maySend("HostRetired", to: "fleet", user: "kiosk"))
        #expect(!list.mayFollow("fleet", user: "board") && !AccessList().mayFollow("fleet", user: "kiosk"))
    }

    @Test func `An access list lets a user connect that may do nothing`() throws {
        let list = try AccessList(parsing: "\(Self.key)\tkiosk\n")
        #expect(list.user(of: try #require(NodePublicKey(Self.key))) == "kiosk")
        #expect(!list.mayFollow("fleet", user: "kiosk") && !list.maySend("any", to: "fleet", user: "kiosk"))
    }

    @Test func `An access list gives a user the permissions of all its keys`() throws {
        let list = try AccessList(parsing: "\(Self.key) board follow=fleet\n\(Self.other) board follow=counter\n")
        #expect(list.mayFollow("fleet", user: "board") && list.mayFollow("counter", user: "board"))
    }

    @Test func `An access list may have comments`() throws {
        let list = try AccessList(parsing: "# first\n#\n\n  #indented\r\n\(Self.key) board\n")
        #expect(list.user(of: try #require(NodePublicKey(Self.key))) == "board")
    }

    /// Its first five characters stand for 32 bits, and "#" is the last digit.
    @Test func `An access list has no key that begins like a comment`() {
        #expect(NodePublicKey("#0000" + Self.key.dropFirst(5)) == nil)
    }

    @Test(
        arguments: [
            ("Host*", "HostAdded", true), ("Host*", "Host", true), ("Host*", "Hos", false),
            ("*Added", "HostAdded", true),
            ("*", "", true), ("*", "any", true), ("**", "any", true), ("H*t*d", "HostAdded", true),
            ("H*x*d", "HostAdded", false), ("a*a", "a", false), ("a*a", "aa", true), ("a*b*b", "ab", false),
            ("Host", "HostAdded", false), ("*a*a*", "ba", false), ("*ab*ab", "abcab", true),
        ]
    )
    func `An access list matches names`(pattern: String, name: String, isMatch: Bool) throws {
        let list = try AccessList(parsing: "\(Self.key) kiosk send=fleet/\(pattern)\n")
        #expect(list.maySend(name, to: "fleet", user: "kiosk") == isMatch)
    }

    @Test func `An access list is refused if its last line does not end`() {
        let failure = #expect(throws: AccessListError.self) { try AccessList(parsing: "# c\n\(Self.key) board") }
        #expect(failure?.line == 2 && failure?.message.contains("incomplete") == true)
    }

    @Test(arguments: ["\r", "\u{B}", "\u{C}", "\u{0}", "\u{85}", "\u{2028}", "\u{2029}", "\u{FEFF}"])
    func `An access list is refused with characters that an editor may show as the end of a line`(character: String) {
        #expect(throws: AccessListError.self) { try AccessList(parsing: "# c\(character)\(Self.key) board\n") }
    }

    @Test(
        arguments: [
            ("short kiosk", 1, "got \"short\""), ("\(key)", 1, "expected the name of a user"),
            ("# c\n\(key) ki/osk", 2, "ki/osk"), ("\(key) \(String(repeating: "u", count: 65))", 1, "1 to 64"),
            ("\(key) a\n\n\(key) b", 3, "the key of \"b\" is in an earlier line"),
            ("\(key) a follow", 1, "got \"follow\""), ("\(key) a follow=", 1, "follow="),
            ("\(key) a follow=fleet,", 1, "follow=fleet,"), ("\(key) a follow=fl/eet", 1, "fl/eet"),
            ("\(key) a send=fleet", 1, "send=fleet"), ("\(key) a send=fleet/", 1, "send=fleet/"),
            ("\(key) a send=/Host", 1, "send=/Host"), ("\(key) a read=fleet", 1, "read=fleet"),
            ("\(key) a Follow=fleet", 1, "Follow"),
            // A separator also separates if a combining mark follows, which makes another character of it.
            ("\(key) a send=fleet/A,\u{301}fleet/B", 1, "\u{301}fleet/B"),
            ("\(key) a send=fleet/A \u{301}send=fleet/B", 1, "got \"\u{301}send=fleet/B"),
        ] as [(String, Int, String)]
    )
    func `An access list is refused with the first wrong line`(text: String, line: Int, message: String) {
        let failure = #expect(throws: AccessListError.self) { try AccessList(parsing: text + "\n") }
        #expect(failure?.line == line)
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }
}
