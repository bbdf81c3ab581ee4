import Foundation
import Testing

@testable import StatecastCommandLine

@Suite struct TerminalTests {
    @Test(arguments: [("xterm-256color", true), ("dumb", false), (nil, false)])
    func `a terminal that is dumb or unknown obeys no escape sequences`(
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

    @Test func `an ASCII line keeps its width`() {
        #expect(PlainText.line("a ██░ 50% …") == "a ##. 50% ~")
        #expect(PlainText.line("Zu\u{308}rich é") == "Z?rich ?")
        #expect(PlainText.line("東京 👍🏽") == "???? ??")
        #expect(PlainText.line("\u{1B}[1mplain\u{1B}[0m") == "\u{1B}[1mplain\u{1B}[0m")
    }
}

@Suite struct PictureKeyTests {
    @Test(
        arguments: [
            ("\u{1B}[A\u{1B}OB", [.up, .down]), ("kjbg G", [.up, .down, .pageUp, .home, .pageDown, .end]),
            ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[H\u{1B}[4~", [.home, .end]), ("q", [.quit]),
            ("", []),
            ("x\u{1B}[15~j\u{1B}[1;5Ak\u{1B}", [.other("x"), .down, .up]), ("é\u{1B}xj\u{1B}[", [.down]),
        ] as [(String, [PictureKey])]
    )
    func `keys are recognized, and others are skipped`(input: String, keys: [PictureKey]) {
        #expect(PictureKey.keys(in: Array(input.utf8)) == keys)
    }
}

@Suite struct ScreenCodesTests {
    private static let escape: Character = "\u{1B}"

    /// The private modes that a text turns on or off.
    private func modes(_ codes: String) -> [String: Bool] {
        var modes: [String: Bool] = [:]
        for code in codes.split(separator: Self.escape) where code.hasPrefix("[?") {
            guard let end = code.firstIndex(where: { $0 == "h" || $0 == "l" }) else { continue }
            modes[String(code[..<end].dropFirst(2))] = code[end] == "h"
        }
        return modes
    }

    @Test func `leaving reverts all modes`() {
        let (entered, left) = (modes(ScreenCodes.enter), modes(ScreenCodes.leave))
        #expect(entered == ["1049": true, "25": false, "7": false])
        #expect(left == entered.mapValues { !$0 })
    }

    @Test func `a frame draws its lines from the top, and clears the rest of the screen`() {
        #expect(
            ScreenCodes.frame(["one", "two"])
                == "\u{1B}[?2026h\u{1B}[Hone\u{1B}[K\r\ntwo\u{1B}[K\u{1B}[J\u{1B}[?2026l"
        )
    }

    @Test func `a frame's last line ends without a line end, which would scroll`() {
        let frame = ScreenCodes.frame((0..<24).map { "\($0)" })
        #expect(frame.components(separatedBy: "\r\n").count == 24)
        #expect(!frame.contains("\u{1B}[2J"), "clearing first would flicker")
    }

    @Test func `a frame without lines clears the screen`() {
        #expect(ScreenCodes.frame([]) == "\u{1B}[?2026h\u{1B}[H\u{1B}[J\u{1B}[?2026l")
    }
}
