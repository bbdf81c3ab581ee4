import Foundation

/// A pgbouncer of its own for a test, in front of a server.
package final class Pooler: Sendable {
    private let server: PostgresServer
    private let port: Int
    private var pidFile: String { "\(server.folder)/pooler-\(port).pid" }

    /// - Parameter mode: `session` or `transaction`.
    package init(of server: PostgresServer, mode: String) throws {
        self.server = server
        port = try PostgresServer.freePort()
        let settings = """
            [databases]
            postgres = host=127.0.0.1 port=\(server.port) user=statecast
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = \(mode)
            logfile = \(server.folder)/pooler-\(port).log
            pidfile = \(pidFile)
            """
        let file = "\(server.folder)/pooler-\(port).ini"
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o644)
        try PostgresServer.run("pgbouncer", ["--daemon", "--quiet", file])
        // It may listen later than it has begun.
        while (try? PostgresServer.run("psql", ["--dbname", uri, "--command", "SELECT 1"])) == nil {
            try Task.checkCancellation()
        }
    }

    deinit {
        let process = (try? String(contentsOfFile: pidFile, encoding: .utf8))?.trimmingCharacters(in: .newlines)
        if let process = process.flatMap({ pid_t($0) }) { kill(process, SIGKILL) }
    }

    package var uri: String { "postgresql://statecast@127.0.0.1:\(port)/postgres" }
}
