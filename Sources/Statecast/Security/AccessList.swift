import StatecastProtocol

/// Who may connect to a primary, and what for: one line for each public key. What no line permits is denied.
///
/// ```text
/// # key                                     user     permissions
/// hOS=}Afmx8R.at9s=1{>u25{fV@>I#{-<^yJHl^5  kiosk-1  follow=fleet send=fleet/*
/// 4(@#1a/Q:sm#ZcK0>0#0FHZVX/gFXcE{FNvQ={fg  board    follow=*
/// ```
///
/// A permission to send names stores and actions: `send=fleet/HostAdded,fleet/HostRe*`. An action without permission
/// gets a final rejection with code `not-permitted`.
///
/// A user with several keys, as while they are replaced, has the permissions of all of its lines. In a name, `*`
/// stands for any characters, also none. Empty lines, and those that begin with `#`, as no key does, are comments.
public struct AccessList: Hashable, Sendable {
    /// What a user may do.
    fileprivate struct Permissions: Hashable, Sendable {
        var stores: Set<NamePattern> = []
        var actions: Set<ActionPattern> = []
    }

    fileprivate struct ActionPattern: Hashable, Sendable {
        let store: NamePattern
        let action: NamePattern
    }

    private var users: [NodePublicKey: String] = [:]
    private var permissions: [String: Permissions] = [:]

    /// A list that denies everything.
    public init() {}

    /// The user of a key; `nil` if it may not connect.
    public func user(of key: NodePublicKey) -> String? { users[key] }

    var keys: some Collection<NodePublicKey> { users.keys }

    /// Whether a user may read the state of a store. The list of a store's peers is permitted by its whole name only.
    public func mayFollow(_ store: String, user: String) -> Bool {
        let isOfPeers = store.hasSuffix(StoreName.suffixOfPeers)
        return permissions[user]?.stores.contains { $0.matches(store) && ($0.isExact || !isOfPeers) } ?? false
    }

    /// Whether a user may send an action, by its name, to a store.
    public func maySend(_ action: String, to store: String, user: String) -> Bool {
        permissions[user]?.actions.contains { $0.store.matches(store) && $0.action.matches(action) } ?? false
    }
}

// MARK: Parsing

/// Why a line of an access list is not used.
public struct AccessListError: Error, Hashable, CustomStringConvertible {
    /// Counts from 1.
    public let line: Int
    /// What was expected, and what came.
    public let message: String

    /// The line and the message.
    public var description: String { "line \(line): \(message)" }
}

extension AccessList {
    /// The maximum size of a user's name, in bytes.
    private static let maxUserBytes = 64

    /// Parses a list. If one line is wrong, no line is used.
    ///
    /// Each line ends with a line feed, also the last one: a file that was not written to its end could permit more
    /// than the whole file. Other control characters are refused, since an editor could show them as the end of a line.
    public init(parsing text: String) throws(AccessListError) {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            func wrong(_ message: String) -> AccessListError { AccessListError(line: index + 1, message: message) }
            guard index < lines.count - 1 || line.isEmpty else {
                throw wrong("the last line does not end with a line feed; the file may be incomplete")
            }
            let line = String(Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line))
            guard let odd = line.unicodeScalars.first(where: Self.isLikeNewline) else {
                try add(line, wrong)
                continue
            }
            throw wrong("the character U+\(String(odd.value, radix: 16, uppercase: true)) is not allowed")
        }
    }

    private mutating func add(
        _ line: String,
        _ wrong: (String) -> AccessListError
    ) throws(AccessListError) {
        // By scalars, as below: a separator with a combining mark is a character of its own.
        let words = line.unicodeScalars.split { $0 == " " || $0 == "\t" }.map(Substring.init)
        guard let first = words.first, first.unicodeScalars.first != "#" else { return }
        guard let key = NodePublicKey(String(first)) else {
            throw wrong(
                "expected a public key of 40 characters, as statecast-keys show prints it, got \"\(first.prefix(80))\""
            )
        }
        guard let user = words.dropFirst().first else { throw wrong("expected the name of a user after the key") }
        guard (1...Self.maxUserBytes).contains(user.utf8.count), user.unicodeScalars.allSatisfy(Self.isAllowed)
        else {
            throw wrong(
                "a user's name has 1 to \(Self.maxUserBytes) of the characters a-z A-Z 0-9 . _ @ and -, "
                    + "got \"\(user.prefix(80))\""
            )
        }
        guard users.updateValue(String(user), forKey: key) == nil else {
            throw wrong("the key of \"\(user)\" is in an earlier line")
        }
        for word in words.dropFirst(2) {
            guard permissions[String(user), default: Permissions()].add(word) else {
                throw wrong(
                    "expected follow=STORE,STORE or send=STORE/ACTION,STORE/ACTION, got \"\(word.prefix(80))\""
                )
            }
        }
    }

    /// Control characters except the tab, and the other characters that end a line in Unicode.
    private static func isLikeNewline(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 9: false
        case 0..<32, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF: true
        default: false
        }
    }

    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "@", "-": true
        default: false
        }
    }
}

extension AccessList.Permissions {
    /// - Returns: whether the word is a permission.
    fileprivate mutating func add(_ word: Substring) -> Bool {
        let word = word.unicodeScalars
        guard let equals = word.firstIndex(of: "=") else { return false }
        let names = word[equals...].dropFirst().split(separator: ",", omittingEmptySubsequences: false)
        switch Substring(word[..<equals]) {
        case "follow":
            for name in names {
                guard let store = NamePattern(store: Substring(name)) else { return false }
                stores.insert(store)
            }
        case "send":
            for name in names {
                let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let store = NamePattern(store: Substring(parts[0])), !parts[1].isEmpty else {
                    return false
                }
                actions.insert(AccessList.ActionPattern(store: store, action: NamePattern(Substring(parts[1]))))
            }
        default: return false
        }
        return true
    }
}

/// A name, or a pattern in which `*` stands for any characters.
struct NamePattern: Hashable, Sendable {
    /// The bytes between the stars.
    private let parts: [[UInt8]]

    init(_ text: Substring) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// `nil` if no store can have such a name.
    init?(store text: Substring) {
        let letters = text.filter { $0 != "*" }
        guard !text.isEmpty, letters.isEmpty || (try? StoreName(String(letters))) != nil else { return nil }
        self.init(text)
    }

    /// Whether it has no star.
    var isExact: Bool { parts.count == 1 }

    /// In time proportional to the product of both sizes.
    func matches(_ name: String) -> Bool {
        guard let first = parts.first, let last = parts.last, parts.count > 1 else {
            return name.utf8.elementsEqual(parts.joined())
        }
        var rest = Array(name.utf8)[...]
        guard rest.starts(with: first) else { return false }
        rest = rest.dropFirst(first.count)
        // Taking the earliest match of each part leaves the longest rest for the others.
        for part in parts.dropFirst().dropLast() {
            while !rest.starts(with: part) {
                guard rest.popFirst() != nil else { return false }
            }
            rest = rest.dropFirst(part.count)
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }
}
