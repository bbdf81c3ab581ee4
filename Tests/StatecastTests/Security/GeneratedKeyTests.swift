import Statecast
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Generated keys` {
    @Test func `Generated keys can be an argument of a command and begin a line of an access list`() {
        let firsts = Set((0..<1000).compactMap { _ in NodeKeys.generate().publicKey.description.first })
        #expect(firsts.count > 50 && firsts.isDisjoint(with: "-#"))
    }
}
