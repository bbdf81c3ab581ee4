import StateCoding
import Statecast
import Testing

@testable import CommandLineSupport

@Suite struct TreePictureTests {
    private func state(_ part: Value?, status: ReplicaStatus = .live) async throws -> FollowedState {
        let settings = try await Settings(flags: [.store: .text("counter")], file: nil, environment: [:])
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(3))
        return FollowedState(
            upstream: try await Upstream(settings),
            status: status,
            position: part.map { _ in position },
            part: part,
            isWhole: true,
            primaryTime: nil
        )
    }

    private let title = "counter, revision 3, live, from tcp://127.0.0.1:7100"

    @Test func `the tree stands below the title`() async throws {
        let lines = TreePicture().lines(of: try await state(["counter": 7]), columns: 80, rows: 24)
        #expect(lines == [title, "", "counter: 7"])
    }

    @Test func `before the first state there is a title alone`() async throws {
        let lines = TreePicture().lines(of: try await state(nil, status: .joining), columns: 80, rows: 24)
        #expect(lines == ["counter, no state yet, joining, from tcp://127.0.0.1:7100"])
    }

    @Test(arguments: [
        (ReplicaStatus.joining, "joining"), (.stale, "stale: the primary is silent"),
        (.refused(Rejection(.unknownStore, "")), "refused"), (.incompatible(Rejection(.incompatible, "")), "refused"),
    ]) func `the title says how the state relates to the primary`(status: ReplicaStatus, word: String) async throws {
        let title = try await state(7, status: status).title
        #expect(title == "counter, revision 3, \(word), from tcp://127.0.0.1:7100")
    }

    @Test func `what fits exactly is not cut`() async throws {
        let state = try await state(.array((0..<4).map { Value($0) }))
        let lines = TreePicture().lines(of: state, columns: 80, rows: 6)
        #expect(lines == [title, "", "0: 0", "1: 1", "2: 2", "3: 3"])
    }

    @Test func `what does not fit ends with an ellipsis, within the room there is`() async throws {
        let state = try await state(.array((0..<5).map { Value($0) }))
        let lines = TreePicture().lines(of: state, columns: 80, rows: 6)
        #expect(lines == [title, "", "0: 0", "1: 1", "2: 2", "…"])
        #expect(TreePicture().lines(of: state, columns: 80, rows: nil).count == 7)
    }

    @Test func `a line that is too long ends with an ellipsis, one that fits exactly does not`() async throws {
        let state = try await state(["key": "abcde"])
        #expect(TreePicture().lines(of: state, columns: 10, rows: nil).last == "key: abcde")
        #expect(TreePicture().lines(of: state, columns: 9, rows: nil).last == "key: abc…")
        for columns in 0...3 {
            let lines = TreePicture().lines(of: state, columns: columns, rows: 1)
            #expect(lines.allSatisfy { $0.count <= max(1, columns) })
        }
    }

    @Test func `a screen of any size is survived`() async throws {
        let state = try await state(["a": ["b": "c"], "d": "e"])
        for rows in 0...5 {
            for columns in 0...5 { #expect(!TreePicture().lines(of: state, columns: columns, rows: rows).isEmpty) }
        }
    }
}
