extension JSON {
    /// How a tagged value looks, where its tag gives it a form of its own.
    enum TaggedForm {
        case text(String)
        /// Digits, as JSON writes numbers.
        case number(String)
    }

    /// - Returns: `nil` where the tag is dropped.
    static func form(ofTag tag: UInt64, _ content: Value) -> TaggedForm? {
        switch (tag, content) {
        case (UUIDForm.tag, .bytes(let bytes)): UUIDForm.text(bytes).map { .text($0) }
        case (DecimalNumber.Tag.positive, .bytes), (DecimalNumber.Tag.negative, .bytes):
            DecimalNumber(.tagged(tag, content)).map { .number($0.text(zerosMax: BigNumber.digitsMax)) }
        case (DecimalNumber.Tag.decimalFraction, .array):
            DecimalNumber(.tagged(tag, content)).map { .number($0.text()) }
        default: nil
        }
    }

    /// A key of a map as a name in a JSON object: a text, a UUID or a URL as it is; of other keys the text of their JSON.
    ///
    /// Of an array, a map or a tag in a key, the base64 of its encoding: each level of JSON in JSON would double the quotes.
    package static func name(ofKey key: Value, isWithinKey: Bool = false) -> String {
        switch key {
        case .text(let text), .tagged(uriTag, .text(let text)): return text
        case .tagged(let tag, let content):
            if case .text(let text) = form(ofTag: tag, content) { return text }
            if isWithinKey { return Base64.text(key.encoded) }
        case .array, .map: if isWithinKey { return Base64.text(key.encoded) }
        default: break
        }
        var printer = JSONPrinter(pretty: false, isKey: true)
        printer.print(key)
        return String(decoding: printer.output, as: UTF8.self)
    }

    /// The tag of a text that is a URI (RFC 8949, section 3.4.5.3).
    static let uriTag: UInt64 = 32
}
