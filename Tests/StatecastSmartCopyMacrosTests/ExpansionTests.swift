import Testing

@Suite struct ExpansionTests {
    @Test func `each field is a parameter, an optional one of a type of its own`() {
        expect(
            """
            @SmartCopy
            struct Robot {
                let id: Int
                let task: String?
                var weight: Optional<Double>
                var owner: Owner!
            }
            """,
            expandsTo: """
                struct Robot {
                    let id: Int
                    let task: String?
                    var weight: Optional<Double>
                    var owner: Owner!

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        id: Int? = nil,
                        task: StatecastSmartCopy.OptionalChange<String> = .keep,
                        weight: StatecastSmartCopy.OptionalChange<Double> = .keep,
                        owner: StatecastSmartCopy.OptionalChange<Owner> = .keep
                    ) -> Self {
                        Self(
                            id: id ?? self.id,
                            task: task.applied(to: self.task),
                            weight: weight.applied(to: self.weight),
                            owner: owner.applied(to: self.owner)
                        )
                    }
                }
                """
        )
    }

    @Test func `a less visible field has no parameter and keeps its value`() {
        expect(
            """
            @SmartCopy
            public struct Account {
                public let owner: String
                let region: Region
                private let secret: String?
                private(set) public var tries: Int
            }
            """,
            expandsTo: """
                public struct Account {
                    public let owner: String
                    let region: Region
                    private let secret: String?
                    private(set) public var tries: Int

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    public func copy(
                        owner: String? = nil,
                        tries: Int? = nil
                    ) -> Self {
                        Self(
                            owner: owner ?? self.owner,
                            region: self.region,
                            secret: self.secret,
                            tries: tries ?? self.tries
                        )
                    }
                }
                """
        )
    }

    @Test func `an own initializer is called in the order of its parameters`() {
        expect(
            """
            @SmartCopy
            struct Pair {
                let a: Int
                let b: Int?

                init(b: Int?, note: String = "", a: Int) {
                    self.a = a
                    self.b = b
                }
            }
            """,
            expandsTo: """
                struct Pair {
                    let a: Int
                    let b: Int?

                    init(b: Int?, note: String = "", a: Int) {
                        self.a = a
                        self.b = b
                    }

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        a: Int? = nil,
                        b: StatecastSmartCopy.OptionalChange<Int> = .keep
                    ) -> Self {
                        Self(
                            b: b.applied(to: self.b),
                            a: a ?? self.a
                        )
                    }
                }
                """
        )
    }

    @Test func `properties that no initializer can set have no parameter`() {
        expect(
            """
            @SmartCopy
            struct Gauge {
                static let unit = "bar"
                let version = 2
                lazy var wide = compute()
                var span: Double { high - low }
                let low, high: Double
                var level = -0.5 {
                    didSet { note() }
                }
            }
            """,
            expandsTo: """
                struct Gauge {
                    static let unit = "bar"
                    let version = 2
                    lazy var wide = compute()
                    var span: Double { high - low }
                    let low, high: Double
                    var level = -0.5 {
                        didSet { note() }
                    }

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        low: Double? = nil,
                        high: Double? = nil,
                        level: Double? = nil
                    ) -> Self {
                        Self(
                            low: low ?? self.low,
                            high: high ?? self.high,
                            level: level ?? self.level
                        )
                    }
                }
                """
        )
    }

    @Test func `a binding with a value of its own does not borrow the type of the next one`() {
        expect(
            """
            @SmartCopy
            struct Gauge {
                var name = "boiler", low, high: Double
            }
            """,
            expandsTo: """
                struct Gauge {
                    var name = "boiler", low, high: Double

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        name: String? = nil,
                        low: Double? = nil,
                        high: Double? = nil
                    ) -> Self {
                        Self(
                            name: name ?? self.name,
                            low: low ?? self.low,
                            high: high ?? self.high
                        )
                    }
                }
                """
        )
    }

    @Test func `backticks stay where the language needs them`() {
        expect(
            """
            @SmartCopy
            struct Words {
                let `default`: Int
                let `inout`: Int
                let `first choice`: Int
            }
            """,
            expandsTo: """
                struct Words {
                    let `default`: Int
                    let `inout`: Int
                    let `first choice`: Int

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        `default`: Int? = nil,
                        `inout`: Int? = nil,
                        `first choice`: Int? = nil
                    ) -> Self {
                        Self(
                            default: `default` ?? self.`default`,
                            `inout`: `inout` ?? self.`inout`,
                            `first choice`: `first choice` ?? self.`first choice`
                        )
                    }
                }
                """
        )
    }
}
