/// The system's random numbers.
///
/// `SystemRandomNumberGenerator` is an empty struct. ThreadSanitizer crashes at an `inout` access to one (Swift 6.3).
package struct SystemRandom: RandomNumberGenerator {
    private var generator = SystemRandomNumberGenerator()
    private let filler: UInt8 = 0

    package init() {}

    package mutating func next() -> UInt64 { generator.next() }
}
