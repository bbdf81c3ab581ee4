import Testing

@Suite struct AccessLevelTests {
    @Test(arguments: [
        ("", ""),
        ("internal ", ""),
        ("fileprivate ", "fileprivate "),
        ("private ", "fileprivate "),
        ("package ", "package "),
        ("public ", "public "),
    ])
    func `copy is as visible as the struct`(written: String, generated: String) {
        let field = "\(written == "package " || written == "public " ? written : "")let id: Int"
        expect(
            """
            @SmartCopy
            \(written)struct Robot {
                \(field)
            }
            """,
            expandsTo: expansion(of: "\(written)struct Robot", field: field, function: "\(generated)func copy")
        )
    }

    @Test func `a struct has the access level of the extension around it`() {
        expect(
            """
            public extension Fleet {
                @SmartCopy
                struct Robot {
                    public let id: Int
                    let secret: Int
                }
            }
            """,
            expandsTo: """
                public extension Fleet {
                    struct Robot {
                        public let id: Int
                        let secret: Int

                        /// A copy in which the fields given here have new values and all others keep theirs.
                        public func copy(
                            id: Int? = nil
                        ) -> Self {
                            Self(
                                id: id ?? self.id,
                                secret: self.secret
                            )
                        }
                    }
                }
                """
        )
    }

    private func expansion(of header: String, field: String, function: String) -> String {
        """
        \(header) {
            \(field)

            /// A copy in which the fields given here have new values and all others keep theirs.
            \(function)(
                id: Int? = nil
            ) -> Self {
                Self(
                    id: id ?? self.id
                )
            }
        }
        """
    }
}
