/// The limits of encoders and decoders. A decoder accepts the output of an encoder with the same limits.
///
/// Lengths need no limit of their own: a length beyond the input is refused before memory is allocated, so a bound of
/// the input bounds the memory.
public struct CodingLimits: Hashable, Sendable {
    /// How many arrays, maps and tags may be open at once.
    public var depthMax: Int

    /// Limits that differ from the standard ones only where said.
    public init(depthMax: Int = 64) {
        self.depthMax = depthMax
    }

    /// 64 levels: beyond any state written by hand, and far from the end of a small thread's stack.
    public static let standard = CodingLimits()

    /// A patch nests up to twice as deep as the value it changes (a splice or a replacement adds levels of its own).
    var forPatches: CodingLimits {
        CodingLimits(depthMax: depthMax * 2 + 32)
    }
}
