import Testing

@testable import CommandLineSupport
@testable import Statecast

@Suite struct HistoryNoticeTests {
    private static let shown = position(1, epoch: 6, revision: 100)

    private static func position(_ lineage: UInt64, epoch: UInt64, revision: UInt64) -> Position {
        Position(lineage: Lineage(bits: lineage), epoch: Epoch(epoch), revision: Revision(revision))
    }

    private func notice(_ position: Position) async throws -> String? {
        position.notice(behind: Self.shown, from: try await Upstream(try await Settings(flags: [:], file: nil)))
    }

    @Test func `the first state is news, and so is a later one, without a word`() async throws {
        #expect(Self.shown.isNews(behind: nil))
        for position in [Self.position(1, epoch: 6, revision: 101), Self.position(1, epoch: 7, revision: 101)] {
            #expect(position.isNews(behind: Self.shown))
            #expect(try await notice(position) == nil)
        }
    }

    @Test func `the same state, or an older one of the same incarnation, is none`() async throws {
        for position in [
            Self.shown, Self.position(1, epoch: 7, revision: 100), Self.position(1, epoch: 6, revision: 99),
            Self.position(1, epoch: 5, revision: 99),
        ] {
            #expect(!position.isNews(behind: Self.shown))
            #expect(try await notice(position) == nil)
        }
    }

    @Test func `going back is news, and said`() async throws {
        let position = Self.position(1, epoch: 7, revision: 99)
        #expect(position.isNews(behind: Self.shown))
        #expect(
            try await notice(position)
                == "the primary at tcp://127.0.0.1:7100 lost changes and went back: behind revision 100 of epoch 6 comes "
                + "revision 99 of epoch 7"
        )
    }

    @Test(arguments: [99, 100, 101] as [UInt64])
    func `another history is news, and said, whatever its numbers`(revision: UInt64) async throws {
        let position = Self.position(2, epoch: 6, revision: revision)
        #expect(position.isNews(behind: Self.shown))
        #expect(try await notice(position)?.contains("began a new history") == true)
    }
}
