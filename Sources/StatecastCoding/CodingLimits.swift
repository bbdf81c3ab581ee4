/// The limits of encoders and decoders. A decoder accepts the output of an encoder with the same limits.
///
/// Lengths need no limit of their own: a length beyond the input is refused before memory is allocated, so a bound of
/// the input bounds the memory.
public struct CodingLimits: Hashable, Sendable {
    /// How many arrays, maps and tags may be open at once.
    public var maxDepth: Int

    /// Standard limits except for the given values.
    public init(maxDepth: Int = 64) {
        self.maxDepth = maxDepth
    }

    /// 64 levels. Deeper than hand-written states, and safe on a small stack.
    public static let standard = CodingLimits()

    /// A patch nests up to twice as deep as the value it changes (a splice or a replacement adds levels of its own).
    var forPatches: CodingLimits {
        CodingLimits(maxDepth: maxDepth * 2 + 32)
    }
}
