@testable import Statecast

/// Laws of access lists: a list says no more than its lines, as another reader reads them.
enum AccessListLaws {
    static func check(_ text: String) throws(BrokenLaw) {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let list: AccessList
        do throws(AccessListError) { list = try AccessList(parsing: text) } catch { return try check(error, lines) }
        try check(list, lines)
    }

    /// An error names the first wrong line: those before it are a list, and what follows makes no difference.
    private static func check(_ error: AccessListError, _ lines: [[UInt8]]) throws(BrokenLaw) {
        try require(lines.indices.contains(error.line - 1), "\(error) in \(lines.count) lines")
        let before = Self.text(of: lines[..<(error.line - 1)])
        _ = try must("\(error), the lines before it are a list") { try AccessList(parsing: before) }
        guard error.line < lines.count else { return }
        let failure: AccessListError?
        do throws(AccessListError) {
            _ = try AccessList(parsing: Self.text(of: lines[..<error.line]))
            failure = nil
        } catch { failure = error }
        try require(failure == error, "\(error), without the lines after it: \(failure.map { "\($0)" } ?? "none")")
    }

    private static func check(_ list: AccessList, _ lines: [[UInt8]]) throws(BrokenLaw) {
        let entries = lines.compactMap(Entry.init)
        try require(Set(list.keys.map(\.description)) == Set(entries.map(\.key)), "\(list.keys) of \(entries)")
        let probes = Probes(entries)
        for entry in entries {
            let user = NodePublicKey(entry.key).flatMap { list.user(of: $0) }
            try require(user == entry.user, "the user \(user ?? "none") has the key of \(entry)")
        }
        try probes.forEach { probe throws(BrokenLaw) in
            let isPermitted = entries.contains { $0.user == probe.user && $0.permits(probe) }
            try require(probe.isPermitted(by: list) == isPermitted, "\(probe) is \(!isPermitted) with \(entries)")
        }
        try checkGrowth(of: list, lines, probes)
    }

    /// A line changes the rights of its user only, and takes none.
    private static func checkGrowth(
        of list: AccessList,
        _ lines: [[UInt8]],
        _ probes: Probes
    ) throws(BrokenLaw) {
        for (index, line) in lines.enumerated() {
            guard let entry = Entry(line) else { continue }
            var others = lines
            others.remove(at: index)
            let text = text(of: others.dropLast())
            let smaller = try must("a list without one of its lines is a list") { try AccessList(parsing: text) }
            try probes.forEach { probe throws(BrokenLaw) in
                let (before, after) = (probe.isPermitted(by: smaller), probe.isPermitted(by: list))
                try require(
                    before == after || after && probe.user == entry.user,
                    "\(entry) changes \(probe) from \(before) to \(after)"
                )
            }
        }
    }

    /// A pattern and a name, with a zero byte between them.
    static func checkPattern(_ bytes: [UInt8]) throws(BrokenLaw) {
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let (pattern, name) = (
            String(decoding: parts[0], as: UTF8.self), String(decoding: parts.last ?? [], as: UTF8.self)
        )
        try require(
            NamePattern(Substring(pattern)).matches(name) == matches(Array(pattern.utf8), name),
            "\(pattern.debugDescription) matches \(name.debugDescription)"
        )
    }

    /// Whether a pattern matches a name: follows all ways through the pattern at once.
    private static func matches(_ pattern: [UInt8], _ name: String) -> Bool {
        // Whether the bytes so far can have led to each position of the pattern.
        func passingStars(_ positions: Set<Int>) -> Set<Int> {
            var positions = positions
            for (index, byte) in pattern.enumerated() where byte == UInt8(ascii: "*") && positions.contains(index) {
                positions.insert(index + 1)
            }
            return positions
        }
        let ends = name.utf8.reduce(passingStars([0])) { positions, byte in
            passingStars(
                positions.reduce(into: []) { next, position in
                    guard position < pattern.count else { return }
                    if pattern[position] == UInt8(ascii: "*") { next.insert(position) }
                    if pattern[position] == byte { next.insert(position + 1) }
                }
            )
        }
        return ends.contains(pattern.count)
    }

    private static func text(of lines: some Sequence<[UInt8]>) -> String {
        String(decoding: lines.flatMap { $0 + [UInt8(ascii: "\n")] }, as: UTF8.self)
    }

    /// What a line of a valid list says.
    private struct Entry: CustomStringConvertible {
        let description: String
        let key: String
        let user: String
        /// The patterns of the stores that the user may follow.
        private var stores: [[UInt8]] = []
        /// The patterns of the actions that the user may send, each with its store's.
        private var actions: [[[UInt8]]] = []

        /// `nil` for a comment.
        init?(_ line: [UInt8]) {
            func string(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count > 1, words[0].first != UInt8(ascii: "#") else { return nil }
            (description, key, user) = (string(line), string(words[0]), string(words[1]))
            for word in words.dropFirst(2) {
                let (isOfStores, names) = (
                    word.starts(with: "follow=".utf8), word.split(separator: UInt8(ascii: "="), maxSplits: 1)
                )
                for name in names.last?.split(separator: UInt8(ascii: ",")) ?? [] {
                    if isOfStores {
                        stores.append(Array(name))
                    } else {
                        actions.append(name.split(separator: UInt8(ascii: "/"), maxSplits: 1).map(Array.init))
                    }
                }
            }
        }

        func permits(_ probe: Probe) -> Bool {
            guard let action = probe.action else {
                // A list of peers is permitted by its whole name only.
                let isOfPeers = probe.store.hasSuffix(".peers")
                return stores.contains { name in
                    matches(name, probe.store) && !(isOfPeers && name.contains(UInt8(ascii: "*")))
                }
            }
            return actions.contains { matches($0[0], probe.store) && matches($0[1], action) }
        }

        /// The names in its patterns.
        var storeNames: [[UInt8]] { stores + actions.map { $0[0] } }
        var actionNames: [[UInt8]] { actions.map { $0[1] } }
    }

    /// A question to a list.
    private struct Probe: CustomStringConvertible {
        let user: String
        let store: String
        /// `nil`: whether the user may follow.
        let action: String?

        func isPermitted(by list: AccessList) -> Bool {
            action.map { list.maySend($0, to: store, user: user) } ?? list.mayFollow(store, user: user)
        }

        var description: String { "\(user): \(action.map { "send \($0) to" } ?? "follow") \(store)" }
    }

    /// Questions about the users of some lines and a stranger, with names that their patterns match, and others.
    private struct Probes {
        private let users: [String]
        private let stores: [String]
        private let actions: [String?]

        init(_ entries: [Entry]) {
            users = Array(Set(entries.map(\.user))) + ["stranger"]
            stores = ["fleet", "counter", ""] + entries.flatMap(\.storeNames).prefix(4).flatMap(Self.names)
            actions = [nil, "HostAdded", ""] + entries.flatMap(\.actionNames).prefix(4).flatMap(Self.names)
        }

        /// Names like a pattern.
        private static func names(_ pattern: [UInt8]) -> [String] {
            [[], Array("ab".utf8)].map { some in
                String(decoding: pattern.flatMap { $0 == UInt8(ascii: "*") ? some : [$0] }, as: UTF8.self)
            }
        }

        func forEach(_ body: (Probe) throws(BrokenLaw) -> Void) throws(BrokenLaw) {
            for user in users {
                for store in stores {
                    for action in actions { try body(Probe(user: user, store: store, action: action)) }
                }
            }
        }
    }
}
