import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite struct ErrorTests {
    @Test(arguments: [
        ("final class", "a class"), ("enum", "an enum"), ("actor", "an actor"), ("protocol", "a protocol"),
        ("extension", "an extension"),
    ])
    func `only a struct is copied`(keyword: String, noun: String) {
        expectError(
            of: """
                @SmartCopy
                \(keyword) Robot {
                }
                """,
            "@SmartCopy needs a struct, and this is \(noun): only a struct has a memberwise initializer",
            line: 1,
            column: 1
        )
    }

    @Test(arguments: [
        (
            "struct Robot {\n    let version = 1\n}",
            "@SmartCopy found no stored property that an initializer can set: there is nothing to copy with a change",
            1, 1
        ),
        (
            "public struct Robot {\n    let id: Int\n}",
            """
            @SmartCopy found no stored property as visible as the struct: copy() would be public and have no \
            parameters; make the properties that it shall change public
            """,
            1, 1
        ),
        (
            "struct Robot {\n    let id: Int\n    @Clamped(0...1) var level: Double\n}",
            """
            @SmartCopy cannot copy a property with '@Clamped(0...1)', which may be a property wrapper: a copy would \
            create a new wrapper without the state of the old one
            """,
            4, 5
        ),
        (
            "struct Robot {\n    let (x, y): (Int, Int)\n}",
            "@SmartCopy cannot copy a tuple pattern: declare each property separately",
            3, 9
        ),
        (
            "struct Robot {\n    var shape: some Shape = Circle()\n}",
            """
            @SmartCopy cannot copy a property of a 'some' type, since no parameter can have the same one: name the \
            type
            """,
            3, 16
        ),
        (
            """
            struct Robot {
                var level: Int {
                    @storageRestrictions(initializes: stored) init { stored = newValue }
                    get { stored }
                }
            }
            """,
            "@SmartCopy cannot copy a property with an init accessor, which sets other properties",
            3, 9
        ),
    ])
    func `what cannot be copied is an error at its place`(source: String, message: String, line: Int, column: Int) {
        expectError(of: "@SmartCopy\n" + source, message, line: line, column: column)
    }

    @Test func `a wrapper on a static property is accepted`() {
        expect(
            """
            @SmartCopy
            struct Robot {
                @Clamped static var level: Double
                @available(*, deprecated) let id: Int
            }
            """,
            expandsTo: """
                struct Robot {
                    @Clamped static var level: Double
                    @available(*, deprecated) let id: Int

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        id: Int? = nil
                    ) -> Self {
                        Self(
                            id: id ?? self.id
                        )
                    }
                }
                """
        )
    }

    @Test(arguments: ["let level: Int", "init() { id = 1 }", "#if os(Linux)\n    let level: Int\n    #endif"])
    func `a condition that decides about fields or initializers is an error`(member: String) {
        expectError(
            of: """
                @SmartCopy
                struct Robot {
                    let id: Int
                    #if DEBUG
                    \(member)
                    #endif
                }
                """,
            """
            @SmartCopy cannot determine which branch of '#if' is compiled: move the stored properties and initializers \
            out of it
            """,
            line: 4,
            column: 5
        )
    }

    @Test func `a condition around anything else is accepted`() {
        expect(
            """
            @SmartCopy
            struct Robot {
                let id: Int
                #if DEBUG
                var shown: String { "" }
                static let level = 1
                #endif
            }
            """,
            expandsTo: """
                struct Robot {
                    let id: Int
                    #if DEBUG
                    var shown: String { "" }
                    static let level = 1
                    #endif

                    /// A copy in which the fields given here have new values and all others keep theirs.
                    func copy(
                        id: Int? = nil
                    ) -> Self {
                        Self(
                            id: id ?? self.id
                        )
                    }
                }
                """
        )
    }

    @Test func `all problems are reported at once`() {
        let source = """
            @SmartCopy
            struct Robot {
                let (x, y): (Int, Int)
                @Clamped var level: Double
            }
            """
        expect(
            source,
            expandsTo: source.replacing("@SmartCopy\n", with: ""),
            diagnostics: [
                DiagnosticSpec(
                    message: "@SmartCopy cannot copy a tuple pattern: declare each property separately",
                    line: 3,
                    column: 9
                ),
                DiagnosticSpec(
                    message: """
                        @SmartCopy cannot copy a property with '@Clamped', which may be a property wrapper: a copy \
                        would create a new wrapper without the state of the old one
                        """,
                    line: 4,
                    column: 5
                ),
            ]
        )
    }
}
