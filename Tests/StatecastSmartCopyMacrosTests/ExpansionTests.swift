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
}
