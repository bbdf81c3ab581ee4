import CStatecastSodium

enum Sodium {
    /// Initializes libsodium, once in a process. Its functions need that.
    static let isReady: Void = {
        let result = sodium_init()
        precondition(result >= 0, "libsodium cannot be initialized")
    }()
}
