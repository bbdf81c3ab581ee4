#if os(Linux)
    import Foundation
    import StatecastJournal
    import StatecastCore
    import StatecastProtocol
    import Testing

    @testable import Statecast

    /// The writes of a session file fail: its descriptors lead to another file.
    @Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A session file that cannot be written` {
        private let folder: TemporaryFolder
        private let path: String

        init() throws {
            folder = try TemporaryFolder()
            path = folder.path + "/session"
        }

        /// A copy of the file in memory that cannot grow, and has room for a part of the next record. A write fails
        /// after this part, as on a full disk.
        private func full() throws -> Int32 {
            // Swift's module of glibc does not declare it.
            typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
            let symbol = try #require(dlsym(nil, "memfd_create"))
            // 2: MFD_ALLOW_SEALING
            let descriptor = unsafeBitCast(symbol, to: Create.self)("session", 2)
            try #require(descriptor >= 0)
            let content = try Data(contentsOf: URL(filePath: path))
            try #require(content.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == content.count)
            try #require(ftruncate(descriptor, off_t(content.count + Self.room)) == 0)
            // F_ADD_SEALS, F_SEAL_GROW
            try #require(fcntl(descriptor, 1033, 4) == 0)
            return descriptor
        }

        private static let room = 1 << 14

        /// A device that accepts all bytes, and cannot be synced or truncated.
        private func unsynced() throws -> Int32 {
            let descriptor = open("/dev/null", O_RDWR)
            try #require(descriptor >= 0)
            return descriptor
        }

        /// Makes all descriptors of the file lead to another one.
        private func replaceFile(by descriptor: Int32) throws {
            let target = try #require(realpath(path, nil).map { String(cString: $0) })
            let own = "/proc/self/fd"
            let names = try FileManager.default.contentsOfDirectory(atPath: own)
            let found = names.filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\($0)")) == target
            }
            try #require(!found.isEmpty)
            for name in found { try #require(dup2(descriptor, try #require(Int32(name))) >= 0) }
        }

        @Test func `A session file that cannot be written removes what it wrote of a record`() throws {
            let log = try SessionLog(at: path)
            try log.announce()
            try log.append([1, 2, 3])
            let content = try Data(contentsOf: URL(filePath: path))
            let descriptor = try full()
            defer { close(descriptor) }
            try replaceFile(by: descriptor)
            let failure = #expect(throws: SaveFailure.self) {
                try log.append(Array(repeating: 7, count: 2 * Self.room))
            }
            #expect(failure?.mayBeSaved == false)
            #expect(failure?.message.contains("cannot write the session file") == true)
            #expect(try Data(contentsOf: URL(filePath: "/proc/self/fd/\(descriptor)")) == content)
            #expect(try log.records() == [[1, 2, 3]])
        }

        @Test
        func `A session file that cannot be written may have a record that it can neither sync nor remove`() throws {
            let log = try SessionLog(at: path)
            try log.announce()
            let descriptor = try unsynced()
            defer { close(descriptor) }
            try replaceFile(by: descriptor)
            let failure = #expect(throws: SaveFailure.self) { try log.append([1]) }
            #expect(failure?.mayBeSaved == true)
        }

        @Test(arguments: [(true, .notSent), (false, .outcomeUnknown)] as [(Bool, Rejection.Code)])
        func `A failing session file ends its sender, which calls an action unsent only if the file lacks it`(
            isRemoved: Bool,
            code: Rejection.Code
        ) async throws {
            let primary = try Primary.diary(MemoryJournal())
            let address = try await primary.start()
            let file = try SessionFile(at: path, store: "diary")
            let sender = try ActionSender(
                store: "diary",
                from: address.publish,
                session: file,
                configuration: .quick
            ).started()
            try await sender.send(Written(line: "1"))
            // The outcome is reported before it is saved.
            while file.outstandingCount > 0 { await Task.yield() }
            let descriptor = try isRemoved ? full() : unsynced()
            defer { close(descriptor) }
            try replaceFile(by: descriptor)
            let long = String(repeating: "x", count: 2 * Self.room)
            let rejection = await #expect(throws: Rejection.self) { try await sender.send(Written(line: long)) }
            #expect(rejection?.code == code)
            for await status in sender.statuses { if case .refused = status { break } }
            await primary.stop()
            #expect(primary.state.lines == ["1"])
        }
    }
#endif
