import Testing

@testable import CommandLineSupport

@Suite struct TerminalTests {
    @Test(arguments: [("xterm-256color", true), ("dumb", false), (nil, false)])
    func `a terminal that is dumb, or of which nothing is known, obeys no escape sequences`(
        term: String?,
        isControllable: Bool
    ) {
        #expect(Terminal.isControllable(term) == isControllable)
    }

    @Test(
        arguments: [
            ([nil, nil, "en_US.UTF-8"], true), ([nil, "UTF-8", nil], true), (["C.utf8", nil, nil], true),
            (["C", nil, "en_US.UTF-8"], false), ([nil, "POSIX", "en_US.UTF-8"], false),
            ([nil, nil, "de_DE.ISO-8859-1"], false),
            ([nil, nil, nil], false),
        ] as [([String?], Bool)]
    ) func `the first variable that is set names the locale`(locales: [String?], isUnicode: Bool) {
        #expect(Terminal.showsUnicode(locales) == isUnicode)
    }

    @Test func `a line for ASCII alone keeps its width`() {
        #expect(PlainText.line("a ██░ 50% …") == "a ##. 50% ~")
        #expect(PlainText.line("Zu\u{308}rich é") == "Z?rich ?")
        #expect(PlainText.line("\u{1B}[1mplain\u{1B}[0m") == "\u{1B}[1mplain\u{1B}[0m")
    }
}
