package import StateCore

extension Rejection {
    /// The same with a message of at most `bytesMax` bytes of UTF-8.
    ///
    /// A message may quote what a peer sent: it may have megabytes, and look like one single character.
    package func cut(to bytesMax: Int) -> Rejection {
        guard let text = message.utf8.text(cutTo: bytesMax) else { return self }
        return Rejection(code, text)
    }
}

extension BidirectionalCollection<UInt8> {
    /// The start of this UTF-8 as a text of at most `bytesMax` bytes that ends with dots; `nil` if all of it fits.
    ///
    /// It ends between two Unicode scalars. No byte beyond the limit is looked at, so it costs the same however much
    /// there is.
    package func text(cutTo bytesMax: Int) -> String? {
        let bytesMax = Swift.max(0, bytesMax)
        guard let limit = index(startIndex, offsetBy: bytesMax, limitedBy: endIndex), limit != endIndex else {
            return nil
        }
        let dots = "...".prefix(bytesMax)
        var end = index(limit, offsetBy: -dots.utf8.count)
        while end != startIndex, isWithinScalar(end) { formIndex(before: &end) }
        return String(decoding: self[..<end], as: UTF8.self) + dots
    }

    private func isWithinScalar(_ index: Index) -> Bool { UTF8.isContinuation(self[index]) }
}
