import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite struct FixItTests {
    @Test func `a variable whose type the macro cannot infer gets a placeholder for it`() {
        expect(
            """
            @SmartCopy
            struct Robot {
                var route = makeRoute()
            }
            """,
            expandsTo: """
                struct Robot {
                    var route = makeRoute()
                }
                """,
            diagnostics: [
                DiagnosticSpec(
                    message: "@SmartCopy cannot infer the type of 'route' from its value: write the type",
                    line: 3,
                    column: 9,
                    fixIts: [FixItSpec(message: "write the type")]
                )
            ],
            applying: ["write the type"],
            fixedTo: """
                @SmartCopy
                struct Robot {
                    var route: <#Type#> = makeRoute()
                }
                """
        )
    }

    @Test(arguments: [
        "init(id: Int) { self.id = id }",
        "init?(id: Int, done: @escaping () -> Void) { return nil }",
        "init(id: Int, done: @escaping () -> Void) throws { throw Failure() }",
        "init(id: Int, _ done: @escaping () -> Void) { self.id = id }",
        "init(id: Int, done: @escaping () -> Void, extra: Int) { self.id = id }",
        "init(from decoder: any Decoder) throws { id = 1 }",
    ])
    func `a struct without an initializer for all fields gets the missing initializer`(own: String) {
        let message = """
            @SmartCopy needs 'init(id: Int, done: @escaping () -> Void)': the initializers in this struct replace the \
            memberwise one; add it, or move them to an extension
            """
        expect(
            """
            @SmartCopy
            public struct Robot {
                public let id: Int
                let done: () -> Void
                \(own)
            }
            """,
            expandsTo: """
                public struct Robot {
                    public let id: Int
                    let done: () -> Void
                    \(own)
                }
                """,
            diagnostics: [
                DiagnosticSpec(
                    message: message,
                    line: 1,
                    column: 1,
                    fixIts: [FixItSpec(message: "add an initializer with every field")]
                )
            ],
            applying: ["add an initializer with every field"],
            fixedTo: """
                @SmartCopy
                public struct Robot {
                    public let id: Int
                    let done: () -> Void
                    \(own)

                    init(id: Int, done: @escaping () -> Void) {
                        self.id = id
                        self.done = done
                    }
                }
                """
        )
    }
}
