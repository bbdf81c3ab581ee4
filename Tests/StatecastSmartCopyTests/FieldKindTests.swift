import StatecastSmartCopy
import Synchronization
import Testing

@SmartCopy
private struct Gauge {
    static let unit = "bar"
    static let calls = Atomic(0)
    let version = 2
    let low, high: Double
    var level = 0.5
    var label = "boiler", width: Double
    var open = true
    var reads = -1
    var offset: Double = 0 {
        didSet { Self.calls.add(1, ordering: .relaxed) }
    }
    private(set) var writes: Int = 0
    private let serial: String
    lazy var expensive = low * high
    var span: Double { high - low }
    var middle: Double {
        get { (low + high) / 2 }
        set { offset = newValue }
    }

    init(
        low: Double,
        high: Double,
        level: Double = 0.5,
        label: String = "boiler",
        width: Double = 0,
        open: Bool = true,
        reads: Int = -1,
        offset: Double = 0,
        writes: Int = 0,
        serial: String
    ) {
        self.low = low
        self.high = high
        self.level = level
        self.label = label
        self.width = width
        self.open = open
        self.reads = reads
        self.offset = offset
        self.writes = writes
        self.serial = serial
    }

    var shownSerial: String { serial }
}

@SmartCopy
private struct Account {
    let owner: String
    private let secret: String
    private var tries = 0

    static func opened(by owner: String, secret: String, tries: Int) -> Account {
        Account(owner: owner, secret: secret, tries: tries)
    }

    var hidden: String { "\(secret) \(tries)" }
}

@SmartCopy
private struct Hooks {
    let name: String
    let done: @Sendable (Int) -> Int
    let failed: (() -> String)?
    let pair: (Int, String)
    let any: any Equatable & Sendable
    let kind: any Sendable.Type
    let names: [String: [Int]]
    let `default`: Int
    let `class`: String?
    let `inout`: Int
    let `first choice`: Int?
    weak var owner: Owner?

    final class Owner: Sendable {}
}

@Suite struct FieldKindTests {
    private let gauge = Gauge(low: 1, high: 3, serial: "s-1")

    @Test func `names that share one type are separate fields`() {
        let changed = gauge.copy(high: 5)
        #expect(changed.low == 1)
        #expect(changed.high == 5)
    }

    @Test func `variables with an initial value keep the one they have now`() {
        var gauge = gauge
        gauge.level = 0.9
        let changed = gauge.copy(label: "tank", width: 2, open: false, reads: 4)
        #expect(changed.level == 0.9)
        #expect(changed.label == "tank")
        #expect(changed.width == 2)
        #expect(!changed.open)
        #expect(changed.reads == 4)
    }

    @Test func `a field with an observer is set without calling it`() {
        let changed = gauge.copy(offset: 2)
        #expect(changed.offset == 2)
        #expect(Gauge.calls.load(ordering: .relaxed) == 0)
    }

    @Test func `a field that others may only read can be copied with a change`() {
        #expect(gauge.copy(writes: 3).writes == 3)
    }

    @Test func `a copy keeps the value of a private field`() {
        #expect(gauge.copy(low: 0).shownSerial == "s-1")
        let account = Account.opened(by: "Ada", secret: "xyzzy", tries: 2)
        #expect(account.copy(owner: "Grace").hidden == "xyzzy 2")
    }

    @Test func `functions, tuples, existentials and names that are keywords are fields as well`() {
        let owner = Hooks.Owner()
        let hooks = Hooks(
            name: "a",
            done: { $0 },
            failed: nil,
            pair: (1, "x"),
            any: 1,
            kind: Int.self,
            names: [:],
            default: 1,
            class: "c",
            `inout`: 1,
            `first choice`: 2,
            owner: owner
        )
        let changed = hooks.copy(
            done: { $0 + 1 },
            failed: .set({ "failed" }),
            pair: (2, "y"),
            any: "two",
            kind: String.self,
            names: ["k": [1]],
            default: 2,
            class: nil,
            `inout`: 3,
            `first choice`: nil
        )
        #expect(changed.name == "a")
        #expect(changed.done(1) == 2)
        #expect(changed.failed?() == "failed")
        #expect(changed.pair == (2, "y"))
        #expect(changed.any as? String == "two")
        #expect(ObjectIdentifier(changed.kind) == ObjectIdentifier(String.self))
        #expect(changed.names == ["k": [1]])
        #expect(changed.default == 2)
        #expect(changed.class == nil)
        #expect(changed.`inout` == 3)
        #expect(changed.`first choice` == nil)
        #expect(changed.owner === owner)
        #expect(changed.copy(owner: nil).owner == nil)
    }
}
