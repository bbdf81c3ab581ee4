import Foundation
import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// Session files of earlier formats, in `Golden/FORMAT`: actions that were sent and have no receipt. Each later build
/// must continue them under the same numbers.
///
/// A build that introduces a format writes its file with `STATECAST_GOLDEN_SESSION=FORMAT` and the test
/// `can be written by this build`, and never changes those of other formats.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `Golden session files` {
    static let formats = ["1"]

    private static let lineage = Lineage(bits: 0x5EED)
    private static let opened = JournalSequence(42)

    private static func path(of format: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(format)/outstanding.session")
            .path
    }

    /// A primary that answers each request with a watermark, and collects what it is sent.
    private final class Peer {
        let primary: RawPrimary
        let hole: RawHole
        private let answering: Task<Void, any Error>
        private let session = Latest<SessionID>()

        init(watermark number: ActionNumber?) async throws {
            let (primary, hole, session) = (try await RawPrimary(store: "diary"), try await RawHole(), session)
            (self.primary, self.hole) = (primary, hole)
            let watermark = Frame.watermark(
                Watermark(
                    lineage: lineage,
                    epoch: Epoch(1),
                    number: number,
                    opened: opened,
                    maxWindowActions: 16,
                    maxActionBytes: 1000,
                    maxFrameBytes: 10_000,
                    endpoint: hole.endpoint
                )
            )
            answering = Task {
                while case let topic = try await primary.request().topic, case .receipts(let id) = topic {
                    session.set(id)
                    try await primary.publish(watermark, on: topic)
                }
            }
        }

        deinit { answering.cancel() }

        /// The frames up to a number.
        func frames(through last: UInt64) async throws -> [ActionsFrame] {
            var frames: [ActionsFrame] = []
            while true {
                let frame = try Message.decodeActions(try await hole.next())
                frames.append(frame)
                if frame.header.first.rawValue + UInt64(frame.header.count) > last { return frames }
            }
        }

        /// Publishes the receipts of actions, which are applied as the revisions of their numbers.
        func confirm(_ numbers: ClosedRange<UInt64>) async throws {
            var outcomes = OutcomeRuns(first: ActionNumber(numbers.lowerBound))
            outcomes.append(.applied(Revision(numbers.lowerBound)), count: numbers.count)
            let receipts = Receipts(lineage: lineage, epoch: Epoch(1), outcomes: outcomes)
            try await primary.publish(.receipts(receipts), on: .receipts(try #require(session.value)))
        }
    }

    @Test(arguments: formats)
    func `Golden session files are continued under the same numbers`(format: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/session"
        try FileManager.default.copyItem(atPath: Self.path(of: format), toPath: path)
        let file = try SessionFile(at: path, store: "diary")
        #expect(file.position == 6)
        #expect(file.outstandingCount == 3)
        let peer = try await Peer(watermark: ActionNumber(2))
        let sender = try ActionSender(
            store: "diary",
            from: peer.primary.endpoint,
            session: file,
            configuration: .quick
        ).started()
        #expect(sender.resumed.map(\.name) == Array(repeating: Written.name, count: 4))
        #expect(sender.resumed.map(\.position) == [3, 4, 5, 6])
        let known = try await sender.resumed[1].receipt.receipt()
        #expect(known.number == ActionNumber(4) && known.revision == 4)

        let frames = try await peer.frames(through: 6)
        #expect(frames.first?.header.first == ActionNumber(3))
        #expect(frames.allSatisfy { $0.header.session == known.session && $0.header.lineage == Self.lineage })
        #expect(frames.allSatisfy { $0.header.opened == Self.opened && $0.header.base == ActionNumber(1) })
        let sent = try frames.flatMap(\.contents).map { try Value(decoding: $0) }
        #expect(sent == (3...6).map { ["Written", ["line": .text("\($0)")]] })

        try await peer.confirm(3...6)
        for (index, action) in sender.resumed.enumerated() {
            #expect(try await action.receipt.receipt().number == ActionNumber(UInt64(index) + 3))
        }
        let next = try await sender.submit(Written(line: "7"), position: 7)
        #expect(try await peer.frames(through: 7).last?.header.session == known.session)
        try await peer.confirm(7...7)
        #expect(try await next.receipt().number == ActionNumber(7))
        await sender.close()
        #expect(try SessionFile(at: path, store: "diary").outstandingCount == 0)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["STATECAST_GOLDEN_SESSION"] != nil))
    func `Golden session files can be written by this build`() async throws {
        let target = Self.path(of: try #require(ProcessInfo.processInfo.environment["STATECAST_GOLDEN_SESSION"]))
        let folder = try TemporaryFolder()
        let path = folder.path + "/session"
        let peer = try await Peer(watermark: nil)
        let file = try SessionFile(at: path, store: "diary")
        let sender = try ActionSender(store: "diary", from: peer.primary.endpoint, session: file).started()
        var pending: [PendingReceipt] = []
        for line in UInt64(1)...6 {
            pending.append(try await sender.submit(Written(line: "\(line)"), position: line))
        }
        _ = try await peer.frames(through: 6)
        try await peer.confirm(1...2)
        try await peer.confirm(4...4)
        for number in [1, 2, 4] { _ = try await pending[number - 1].receipt() }
        await sender.close()
        let directory = URL(filePath: target).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: target)
    }
}
