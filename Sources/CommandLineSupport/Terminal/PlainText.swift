/// Text for a terminal that shows ASCII alone.
enum PlainText {
    /// The line with a substitute for each character beyond ASCII, of the same width where that is one column.
    static func line(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return String(text.map { $0.isASCII ? $0 : substitutes[$0] ?? "?" })
    }

    private static let substitutes: [Character: Character] = ["█": "#", "░": ".", "…": "~"]
}
