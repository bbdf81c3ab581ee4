extension String {
    /// Its first Unicode scalars, for messages. Not characters: one of these may be as long as a text can be.
    func beginning(_ count: Int) -> String {
        let start = unicodeScalars.prefix(count)
        return start.endIndex == endIndex ? self : String(start) + "..."
    }
}
