import ArgumentParser
import Logging
import Statecast
import Testing

@testable import StatecastCommandLine

@Suite struct UpstreamTests {
    private func upstream(_ arguments: [String], environment: [String: String] = [:]) async throws -> Upstream {
        let options = try UpstreamOptions.parse(arguments)
        return try await Upstream(try await Settings(flags: options.flags, file: nil, environment: environment))
    }

    @Test func `the default is the fleet on this machine`() async throws {
        let upstream = try await upstream([])
        #expect(upstream.endpoint == "tcp://127.0.0.1:7100")
        #expect(upstream.store == "fleet")
        #expect(upstream.busyPollingMax == nil)
        #expect(try await self.upstream(["--busy-polling-max", "0"]).busyPollingMax == .zero)
    }

    @Test func `flags win over the environment`() async throws {
        let environment = ["STATECAST_FROM": "tcp://127.0.0.1:1", "STATECAST_STORE": "other"]
        let upstream = try await upstream(["--from", "ipc:///tmp/x", "--store", "counter"], environment: environment)
        #expect(upstream.endpoint == "ipc:///tmp/x")
        #expect(upstream.store == "counter")
        let other = try await self.upstream([], environment: environment)
        #expect(other.endpoint == "tcp://127.0.0.1:1")
        #expect(other.store == "other")
    }

    @Test func `only --insecure connects beyond this machine, and --no-insecure reverts it`() async throws {
        let far = ["--from", "tcp://192.0.2.1:7100"]
        let environment = ["STATECAST_INSECURE": "true"]
        for upstream in [
            try await upstream(far), try await upstream(far + ["--no-insecure"], environment: environment),
        ] {
            let logger = Logger(label: "test")
            let failures = [
                try #require(throws: CommandFailure.self) { try upstream.sender(logger: logger) },
                try #require(throws: CommandFailure.self) { try upstream.replica(logger: logger) },
            ]
            for failure in failures {
                #expect(failure.exitCode == .validationFailure)
                #expect(failure.message.contains("tcp://192.0.2.1:7100"))
            }
        }
    }

    @Test func `an invalid store name is wrong usage`() async throws {
        let upstream = try await upstream(["--store", "no/store"])
        let failure = try #require(throws: CommandFailure.self) { try upstream.sender(logger: Logger(label: "test")) }
        #expect(failure.exitCode == .validationFailure)
        #expect(failure.message.contains("no/store"))
    }
}
