internal import SyncProtocol

/// Who may connect to a primary, and what for: one line for each public key. What no line permits is denied.
///
/// ```text
/// # key                                     user     permissions
/// rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7  kiosk-1  follow=fleet send=fleet/HostAdded,fleet/HostRe*
/// Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID  board    follow=*
/// ```
///
/// A user with several keys, as while they are exchanged, has the permissions of all of its lines. In a name, `*`
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

    /// Whether a user may read the state of a store.
    public func mayFollow(_ store: String, user: String) -> Bool {
        permissions[user]?.stores.contains { $0.matches(store) } ?? false
    }

    /// Whether a user may send some action to a store.
    public func maySend(to store: String, user: String) -> Bool {
        permissions[user]?.actions.contains { $0.store.matches(store) } ?? false
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
    private static let userBytesMax = 64

    /// Parses a list; a list with one wrong line is not used at all.
    public init(parsing text: String) throws(AccessListError) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            func wrong(_ message: String) -> AccessListError { AccessListError(line: index + 1, message: message) }
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard let key = NodePublicKey(String(first)) else {
                throw wrong(
                    "expected a public key of 40 characters, as statecast-keys show prints it, got \"\(first)\""
                )
            }
            guard let user = words.dropFirst().first else { throw wrong("expected the name of a user after the key") }
            guard (1...Self.userBytesMax).contains(user.utf8.count), user.unicodeScalars.allSatisfy(Self.isAllowed)
            else {
                throw wrong(
                    "a user's name has 1 to \(Self.userBytesMax) of the characters a-z A-Z 0-9 . _ @ and -, "
                        + "got \"\(user)\""
                )
            }
            guard users.updateValue(String(user), forKey: key) == nil else {
                throw wrong("the key of \"\(user)\" is in an earlier line")
            }
            for word in words.dropFirst(2) {
                guard permissions[String(user), default: Permissions()].add(word) else {
                    throw wrong("expected follow=STORE,... or send=STORE/ACTION,..., got \"\(word)\"")
                }
            }
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
        guard let equals = word.firstIndex(of: "=") else { return false }
        let names = word[equals...].dropFirst().split(omittingEmptySubsequences: false) { $0 == "," }
        switch word[..<equals] {
        case "follow":
            for name in names {
                guard let store = NamePattern(store: name) else { return false }
                stores.insert(store)
            }
        case "send":
            for name in names {
                let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let store = NamePattern(store: parts[0]), !parts[1].isEmpty else {
                    return false
                }
                actions.insert(AccessList.ActionPattern(store: store, action: NamePattern(parts[1])))
            }
        default: return false
        }
        return true
    }
}

/// A name, or a pattern in which `*` stands for any characters.
struct NamePattern: Hashable, Sendable {
    /// The parts between the stars.
    private let parts: [String]

    init(_ text: Substring) {
        parts = text.split(omittingEmptySubsequences: false) { $0 == "*" }.map(String.init)
    }

    /// `nil` if no store can have such a name.
    init?(store text: Substring) {
        let letters = text.filter { $0 != "*" }
        guard !text.isEmpty, letters.isEmpty || (try? StoreName(String(letters))) != nil else { return nil }
        self.init(text)
    }

    func matches(_ name: String) -> Bool {
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return parts == [name] }
        var rest = name[...]
        guard rest.hasPrefix(first) else { return false }
        rest.removeFirst(first.count)
        // The first place of each part leaves the most for the others.
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
