import StatecastCoding
import StatecastJSON
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastGateway

/// Random states, small and full of neighbours.
struct RandomStates {
    var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func value(depth: Int = 3) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return Value(Int.random(in: -3...3, using: &generator))
        case 3: return .text(["", "a", "ä/~", "$x", "__proto__"].randomElement(using: &generator) ?? "")
        case 4: return .float(Double(Int.random(in: 0...2, using: &generator)) / 4)
        case 5, 6:
            let count = Int.random(in: 0...5, using: &generator)
            return .map(ValueMap((0..<count).map { _ in (key(), value(depth: depth - 1)) }))
        default:
            let count = Int.random(in: 0...4, using: &generator)
            return .array((0..<count).map { _ in value(depth: depth - 1) })
        }
    }

    private mutating func key() -> Value {
        .text(["a", "b", "c/d", "~", "$e", "long key"].randomElement(using: &generator) ?? "")
    }

    /// Changes some part.
    mutating func edited(_ value: Value, depth: Int = 3) -> Value {
        switch value {
        case .map(var map) where depth > 0:
            let key = map.keys.randomElement(using: &generator) ?? key()
            map[key] =
                Bool.random(using: &generator) ? map[key].map { edited($0, depth: depth - 1) } : self.value(depth: 1)
            if Int.random(in: 0..<4, using: &generator) == 0 { map[self.key()] = nil }
            return .map(map)
        case .array(var elements) where depth > 0 && !elements.isEmpty:
            let index = elements.indices.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: elements.remove(at: index)
            case 1: elements.insert(self.value(depth: 1), at: index)
            default: elements[index] = edited(elements[index], depth: depth - 1)
            }
            return .array(elements)
        default: return self.value(depth: depth)
        }
    }
}

extension Value {
    /// The value after an operation of a JSON Patch, applied by the rules of RFC 6902.
    func applying(_ change: StateChange, _ path: ArraySlice<String>) -> Value {
        guard let name = path.first else { return change.new ?? .null }
        switch self {
        case .map(var map):
            let key = Value.text(name)
            map[key] = path.count > 1 ? map[key]?.applying(change, path.dropFirst()) : change.new
            return .map(map)
        case .array(var elements):
            guard let index = Int(name) else { return self }
            if path.count > 1 {
                elements[index] = elements[index].applying(change, path.dropFirst())
            } else {
                switch change.kind {
                case .add: elements.insert(change.new ?? .null, at: index)
                case .remove: elements.remove(at: index)
                case .replace: elements[index] = change.new ?? .null
                }
            }
            return .array(elements)
        default: return self
        }
    }
}

@Suite struct ContentTests {
    private static let nothing = HiddenPaths([])

    private func json(_ value: Value, hiding hidden: HiddenPaths = nothing, depth: Int = .max) -> String {
        var writer = JSONWriter()
        writer.value(value, hiding: hidden, depth: depth)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func parsed(_ body: (inout JSONWriter) throws -> Void) throws -> Value {
        var writer = JSONWriter()
        try writer.object(body)
        return try JSON.value(parsing: writer.bytes)
    }

    @Test func `Values that JSON of browsers does not hold have a form of their own`() {
        #expect(json(.unsigned(1 << 53)) == "9007199254740992")
        #expect(json(.unsigned(1 << 53 + 1)) == #"{"$int":"9007199254740993"}"#)
        #expect(json(Value(Int64.min)) == #"{"$int":"-9223372036854775808"}"#)
        #expect(json(.negative(1 << 53 - 1)) == "-9007199254740992")
        #expect(json(.tagged(1, .float(1_796_065_590.487_125))) == "1796065590.487125")
        #expect(json(.bytes([1, 2])) == #"{"$bytes":"AQI="}"#)
        #expect(
            json([.float(.nan), .float(-.infinity), .float(0.5)]) == #"[{"$float":"nan"},{"$float":"-infinity"},0.5]"#
        )
        #expect(json(["$int": "5", "a\"\n": .null]) == #"{"a\"\u000a":null,"$$int":"5"}"#)
        #expect(json(["a": ["b": [1, 2]]], depth: 1) == #"{"a":{"$cut":{"type":"object","count":1}}}"#)
    }

    @Test func `What is hidden is in no value, summary, page, search or change`() throws {
        let hidden = HiddenPaths([["users", "*", "email"], ["list", "1"], ["secret"]])
        let state: Value = [
            "users": ["ana": ["email": "private", "age": 3]], "list": ["seen", "private"], "secret": "private",
        ]
        #expect(json(state, hiding: hidden) == #"{"list":["seen",null],"users":{"ana":{"age":3}}}"#)
        #expect(hidden.hides(["users", "bob", "email", "x"]) && !hidden.hides(["users", "bob"]))
        let summary = StateNodes.summary(of: state["users"]?["ana"] ?? .null, hiding: hidden.inside(["users", "ana"]))
        #expect(!summary.contains("email"))
        let page = try parsed { writer in
            StateNodes(hidden: hidden, changes: nil).write(state, at: [], StateNodes.Page(depth: 4), to: &writer)
        }
        #expect(!page.description.contains("private") && page.description.contains("age"))
        var search = StateSearch("private", after: nil, limit: 10, until: .now + .seconds(600))
        search.run(in: state, at: [], hiding: hidden)
        #expect(search.found.isEmpty)
        var paths: [[String]] = []
        let changes = StateChanges(hidden: hidden)
        func note(_ change: StateChange) -> Bool {
            paths.append(change.path)
            return true
        }
        let next: Value = ["users": ["ana": ["email": "x", "age": 4]], "list": ["seen", "x"], "secret": "x"]
        changes.run(from: state, to: next, at: [], note)
        #expect(paths == [["users", "ana", "age"]])
        changes.run(from: "private", to: "x", at: ["users", "ana", "email", "domain"], note)
        #expect(paths.count == 1)
        #expect(!StateNodes.summary(of: ["seen", "private"], hiding: hidden.inside(["list"])).contains("private"))
        var shown: [Value?] = []
        changes.run(from: [], to: ["seen", "private"], at: ["list"]) { change in
            shown.append(change.new)
            return true
        }
        #expect(shown == ["seen", .null])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `The changes between two states lead from one to the other`(seed: UInt64) {
        var states = RandomStates(seed: seed)
        var state = states.value()
        for _ in 0..<10 {
            let next = states.edited(state)
            var result = state
            StateChanges(hidden: Self.nothing).run(from: state, to: next, at: []) { change in
                result = result.applying(change, change.path[...])
                return true
            }
            #expect(result == next)
            state = next
        }
    }

    @Test(arguments: [1, 2, 7, 1000])
    func `The pages of a place have each child once, in order`(limit: Int) throws {
        let keys = (0..<50).map { "key-\($0)" }
        for state in [Value.map(ValueMap(keys.map { (.text($0), 1) })), .array(keys.map { .text($0) })] {
            var (after, seen) = (nil as String?, [String]())
            repeat {
                let page = StateNodes.Page(limit: limit, after: after)
                let answer = try parsed {
                    StateNodes(hidden: Self.nothing, changes: nil).write(state, at: [], page, to: &$0)
                }
                seen += (answer["children"]?.arrayValue ?? []).compactMap { $0["key"]?.textValue }
                #expect(answer["count"]?.intValue == 50)
                after = answer["next"]?.textValue
            } while after != nil
            #expect(seen == (state.mapValue?.keys.map(\.keyName) ?? (0..<50).map { "\($0)" }))
        }
    }

    @Test func `A place has one path, and a cursor beyond the end gives an empty page`() throws {
        let state: Value = ["list": ["first"], "map": .map(ValueMap([(7, "seven")]))]
        for path in [["list", "00"], ["list", "+0"], ["list", "-0"], ["map", "07"], ["map", "+7"]] {
            #expect(state.part(at: path) == nil)
        }
        #expect(state.part(at: ["list", "0"]) == "first" && state.part(at: ["map", "7"]) == "seven")
        for after in ["\(Int.max)", "-1", "5", "x"] {
            let page = StateNodes.Page(after: after)
            let answer = try parsed {
                StateNodes(hidden: Self.nothing, changes: nil).write(state["list"] ?? .null, at: [], page, to: &$0)
            }
            #expect(answer["children"]?.arrayValue?.count == (after == "-1" || after == "x" ? 1 : 0))
        }
    }

    @Test(arguments: 1...5)
    func `A search that goes on from its cursor finds each place once`(limit: Int) throws {
        let state: Value = [
            "web": ["name": "WEB-1", "list": ["web", ["web": 1], "x"]], "b": ["cobweb": .null, "ü": "Ünweb"],
        ]
        func paths(_ limit: Int) throws -> [String?] {
            var (found, after): ([String?], [String]?) = ([], nil)
            repeat {
                var search = StateSearch("web", after: after, limit: limit, until: .now + .seconds(600))
                search.run(in: state, at: [], hiding: Self.nothing)
                found += try search.found.map { try JSON.value(parsing: $0)["path"]?.textValue }
                after = search.next
            } while after != nil
            return found
        }
        try #expect(paths(limit) == ["/b/ü", "/b/cobweb", "/web", "/web/list/0", "/web/list/1/web", "/web/name"])
    }

    @Test func `A search ends early when its answer is long, and continues after its last place`() {
        let state = Value.array((0..<1000).map { .text("web \($0) " + String(repeating: "x", count: 3000)) })
        var (found, after, pages): (Set<[UInt8]>, [String]?, Int) = ([], nil, 0)
        repeat {
            var search = StateSearch("web", after: after, limit: 1000, until: .now + .seconds(600))
            search.run(in: state, at: [], hiding: Self.nothing)
            #expect(search.found.reduce(0) { $0 + $1.count } < StateNodes.maxBytes + 4000)
            found.formUnion(search.found)
            (after, pages) = (search.next, pages + 1)
        } while after != nil
        #expect(found.count == 1000 && pages == 4)
    }

    @Test func `A series has null where a value is not known`() throws {
        let series = TimeSeries()
        series.advance(lag: nil)
        series.add(applied: 2, rejected: nil, bytes: nil)
        series.advance(lag: 1)
        let answer = try parsed { series.write(to: &$0) }
        let known = ["actions", "rejected", "updateBytes", "lag"].map { answer[$0]?.arrayValue?.map { $0 != .null } }
        #expect(known == [[false, true], [false, false], [false, false], [false, true]])
    }

    @Test func `A long text is cut, and its size is named`() throws {
        let text = String(repeating: "ä", count: 3000)
        let page = try parsed {
            StateNodes(hidden: Self.nothing, changes: nil).write(["a": .text(text)], at: [], StateNodes.Page(), to: &$0)
        }
        #expect(page["children"]?[0]?["cut"] == Value(6000))
        #expect(page["children"]?[0]?["value"]?.textValue?.utf8.count == 4096)
        func cut(_ value: Value) throws -> (value: Value?, cut: Value?) {
            let page = try parsed {
                StateNodes(hidden: Self.nothing, changes: nil).write(value, at: [], StateNodes.Page(), to: &$0)
            }
            return (page["value"], page["cut"])
        }
        // A character that the limit divides is left out.
        let (value, size) = try cut(.text("a" + text))
        #expect(value == .text("a" + String(repeating: "ä", count: 2047)) && size == 6001)
        let (bytes, count) = try cut(.bytes(Array(repeating: 7, count: 5000)))
        let base64 = try #require(bytes?["$bytes"]?.textValue)
        #expect(Base64.bytes(base64) == Array(repeating: 7, count: 3072) && count == 5000)
    }

    @Test func `The index of changes forgets whole generations, and says since when it is complete`() {
        let index = ChangeIndex(from: 3)
        #expect(index.completeAfter == 3)
        index.record([.init(path: ["a", "b"])], at: 4, by: "Set")
        #expect(index.last(at: ["a", "b"])?.revision == 4 && index.last(at: ["a"])?.action == "Set")
        #expect(index.last(at: ["a", "c"]) == nil)
        index.record([.init(path: ["a"], hasParts: true)], at: 5, by: nil)
        index.record([.init(path: ["a", "d"])], at: 6, by: nil)
        let revisions = [["a"], ["a", "b"], ["a", "d"], ["a", "e", "f"]].map { index.last(at: $0)?.revision }
        #expect(revisions == [6, 5, 6, 5])
        var revision: UInt64 = 7
        while index.last(at: ["a", "b"]) != nil {
            index.record((0..<1000).map { .init(path: ["r", "\(revision)-\($0)"]) }, at: Revision(revision), by: nil)
            revision += 1
        }
        #expect(index.completeAfter > Revision(4) && revision < 1000)
    }

    @Test func `A conversion, which has no sender, passes no filter of one`() {
        #expect(ActionFilter().permitsConversions && ActionFilter(isApplied: true).permitsConversions)
        #expect(!ActionFilter(isApplied: false).permitsConversions && !ActionFilter(names: []).permitsConversions)
        for filter in [ActionFilter(code: "x"), ActionFilter(session: "x"), ActionFilter(user: "ana")] {
            #expect(!filter.permitsConversions)
        }
    }

    @Test func `A query refuses what it does not know`() throws {
        let query = try Query("path=%2Fa~1b&limit=5&paths=%2Fa,%2Fb%252Cc,", known: ["path", "limit", "paths"])
        #expect(try query.path() == ["a/b"])
        #expect(try query.number("limit", in: 1...10) == 5)
        #expect(try query.paths("paths") == [["a"], ["b%2Cc"], []])
        func code(_ body: () throws -> Void) -> GatewayFailure.Code? {
            do { try body() } catch { return GatewayFailure(error).code }
            return nil
        }
        #expect(code { _ = try Query("limits=1", known: ["limit"]) } == .badRequest)
        #expect(code { _ = try Query("limit=%f", known: ["limit"]) } == .badRequest)
        #expect(code { _ = try Query("limit=%ff%fe", known: ["limit"]) } == .badRequest)
        #expect(code { _ = try Query("limit=%+f", known: ["limit"]) } == .badRequest)
        #expect(code { _ = try Query("limit=1&limit=2", known: ["limit"]) } == .badRequest)
        #expect(try Query("log=1", known: ["log"]).flag("log") && !Query("log=0", known: ["log"]).flag("log"))
        #expect(code { _ = try Query("log=true", known: ["log"]).flag("log") } == .badRequest)
        #expect(code { _ = try Query("limit=11", known: ["limit"]).number("limit", in: 1...10) } == .badRequest)
        #expect(code { _ = try Query("path=a", known: ["path"]).path() } == .badRequest)
        let long = String(repeating: "a", count: GatewayLimits.maxPathBytes)
        #expect(code { _ = try Query("path=/\(long)", known: ["path"]).path() } == .badRequest)
        #expect(code { _ = try Query("path=/\(long.dropLast())", known: ["path"]).path() } == nil)
    }
}
