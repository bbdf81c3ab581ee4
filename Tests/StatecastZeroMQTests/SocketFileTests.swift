import Foundation
import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Socket files` {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path("fleet.ipc") }
    func endpoint() throws -> Endpoint { try Endpoint("ipc://\(path)") }

    private func bind() throws -> Socket {
        let socket = try Socket(.pull)
        #expect(try socket.bind(endpoint()) == endpoint())
        return socket
    }

    /// Binds as soon as the endpoint is free. A process that another test forks holds a copy of every descriptor until
    /// it calls `exec`.
    private func bindWhenFree() throws -> Socket {
        while true {
            do { return try bind() } catch let error as ZeroMQError where error.code == .addressInUse { sched_yield() }
        }
    }

    private func expectRefused(_ message: String = "another process or socket is bound there") throws {
        let error = #expect(throws: ZeroMQError.self) { _ = try bind() }
        #expect(error?.code == .addressInUse)
        #expect(error?.message.contains("cannot bind to ipc://\(path)") == true)
        #expect(error?.message.contains(message) == true)
    }

    @Test func `Socket files are not claimed from another socket, which continues to serve`() throws {
        let owner = try bind()
        try expectRefused()
        try expectRefused()
        let push = try connected(.push, to: endpoint())
        try push.push([1])
        #expect(try owner.next() == [1])
    }

    @Test func `Socket files are not claimed from a server that does not lock`() throws {
        let server = try RawListener(at: path)
        try expectRefused()
        _ = consume server
        _ = try bindWhenFree()
    }

    @Test func `Socket files are not claimed while another process holds the lock`() throws {
        let lock = try RawLock(at: path + ".lock")
        try expectRefused()
        #expect(try folder.contents == ["fleet.ipc.lock"])
        _ = consume lock
        _ = try bindWhenFree()
    }

    @Test func `Socket files of dead processes are replaced`() throws {
        _ = try RawListener(at: path)
        try Data().write(to: URL(fileURLWithPath: path + ".lock"))
        #expect(try folder.contents.count == 2)
        let owner = try bind()
        let push = try connected(.push, to: endpoint())
        try push.push([1])
        #expect(try owner.next() == [1])
    }

    @Test func `Socket files are removed and free at once`() throws {
        for number: UInt8 in 0..<20 {
            let owner = try bind()
            let push = try connected(.push, to: endpoint())
            try push.push([number])
            #expect(try owner.next() == [number])
            #expect(Set(try folder.contents) == ["fleet.ipc", "fleet.ipc.lock"])
            _ = consume owner
            #expect(try folder.contents.isEmpty)
        }
    }

    @Test func `Socket files that another process created meanwhile are kept`() throws {
        let owner = try bind()
        try FileManager.default.removeItem(atPath: path)
        let thief = try RawListener(at: path)
        _ = consume owner
        #expect(try folder.contents == ["fleet.ipc"])
        _ = consume thief
    }

    @Test func `Socket files are refused and kept if they are not sockets`() throws {
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        try expectRefused("there is a file that is no socket")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
        #expect(try folder.contents == ["fleet.ipc"])
    }

    @Test func `Socket files that the system chose are removed with their folder`() throws {
        let pull = try Bound(.pull, at: "ipc://*")
        let path = String(pull.endpoint.description.dropFirst("ipc://".count))
        #expect(path.hasPrefix("/"))
        #expect(FileManager.default.fileExists(atPath: path))
        _ = consume pull
        #expect(!FileManager.default.fileExists(atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path))
    }

    @Test func `Socket files need a folder`() throws {
        let socket = try Socket(.pull)
        let error = #expect(throws: ZeroMQError.self) {
            try socket.bind(Endpoint("ipc://\(folder.path("missing/fleet.ipc"))"))
        }
        #expect(error?.code == .addressNotAvailable)
        #expect(error?.message.contains("the folder must exist") == true)
    }
}
