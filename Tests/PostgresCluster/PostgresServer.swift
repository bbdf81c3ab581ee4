import Foundation

/// A PostgreSQL server of its own for a test: in a temporary folder, on a free port of this machine.
///
/// PostgreSQL refuses to run as root, so its programs run as the user `postgres` then.
package final class PostgresServer: Sendable {
    package let port: Int
    let folder: String
    private var data: String { folder + "/data" }

    /// A failure of one of PostgreSQL's programs.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    // MARK: Creating

    /// Creates and starts a server.
    package convenience init(settings: [String: String] = [:]) throws {
        try self.init(port: Self.freePort())
        try Self.run("initdb", ["--auth=trust", "--username=statecast", "--no-sync", "--pgdata", data])
        try configure(settings)
        try start()
    }

    /// Creates and starts another server that follows this one.
    ///
    /// - Parameter isSynchronous: whether each commit of this one waits for it from now on.
    package func makeStandby(isSynchronous: Bool) throws -> PostgresServer {
        let standby = try PostgresServer(port: Self.freePort())
        try Self.run(
            "pg_basebackup",
            ["--dbname", uri, "--pgdata", standby.data, "--write-recovery-conf", "--no-sync", "--checkpoint", "fast"]
        )
        try standby.configure([
            "primary_conninfo": "host=127.0.0.1 port=\(port) user=statecast application_name=standby"
        ])
        try standby.start()
        if isSynchronous { try set("synchronous_standby_names", to: "*") }
        return standby
    }

    private init(port: Int) throws {
        self.port = port
        // The folder of root's temporary files may be closed to other users.
        let place = getuid() == 0 ? "/tmp" : FileManager.default.temporaryDirectory.path
        folder = place + "/statecast-postgres-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            guard let user = getpwnam("postgres") else { throw Failure(description: "there is no user postgres") }
            chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
        }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func configure(_ settings: [String: String]) throws {
        let own = [
            "port": "\(port)", "listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off",
            "shared_buffers": "16MB", "wal_receiver_status_interval": "1", "wal_retrieve_retry_interval": "200ms",
        ]
        let lines = own.merging(settings) { $1 }.map { "\($0) = '\($1)'\n" }.sorted().joined()
        let file = data + "/postgresql.auto.conf"
        let before = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        guard let handle = FileHandle(forWritingAtPath: file) else {
            throw Failure(description: "cannot write \(file)")
        }
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data((before + lines).utf8))
        try handle.close()
    }

    // MARK: Running

    package func start() throws {
        try Self.run("pg_ctl", ["start", "--wait", "--silent", "--pgdata", data, "--log", folder + "/log"])
    }

    package func stop() throws {
        try Self.run("pg_ctl", ["stop", "--wait", "--silent", "--mode", "fast", "--pgdata", data])
    }

    /// Makes this standby a server that takes writes.
    package func promote() throws { try Self.run("pg_ctl", ["promote", "--wait", "--silent", "--pgdata", data]) }

    /// The process of the server and, one below it, those of its connections; `nil` if it does not run.
    private var process: pid_t? {
        guard let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    /// Ends the server at once. Its next start recovers from the write-ahead log.
    package func kill() {
        // A stopped process would not end.
        try? resume()
        _ = try? Self.run("pg_ctl", ["stop", "--wait", "--silent", "--mode", "immediate", "--pgdata", data])
    }

    /// Stops all processes of the server, until ``resume()``.
    package func suspend() throws { try signalAll("STOP") }
    package func resume() throws { try signalAll("CONT") }

    private func signalAll(_ name: String) throws {
        guard let process else { throw Failure(description: "the server on port \(port) does not run") }
        try Self.run("pkill", ["-\(name)", "--parent", "\(process)"])
        Foundation.kill(process, name == "STOP" ? SIGSTOP : SIGCONT)
    }

    // MARK: SQL

    package var uri: String { "postgresql://statecast@127.0.0.1:\(port)/postgres" }

    /// Executes statements.
    ///
    /// - Returns: the columns, separated by `|`, of each row in a line.
    @discardableResult
    package func sql(_ text: String) throws -> String {
        try Self.run(
            "psql",
            ["--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--dbname", uri, "--command", text]
        )
    }

    /// Changes a setting of the running server.
    package func set(_ name: String, to value: String) throws {
        try sql("ALTER SYSTEM SET \(name) = '\(value)'")
        try sql("SELECT pg_reload_conf()")
        // The reload is asynchronous.
        while try sql("SHOW \(name)") != value {}
    }

    // MARK: Programs

    /// Runs a program to its end.
    ///
    /// - Parameter user: what root runs it as; `nil`: as root.
    ///
    /// Its output goes to a file: a server that `pg_ctl` starts would keep a pipe open.
    ///
    /// - Returns: what it wrote, without the last line feed.
    @discardableResult
    static func run(_ program: String, _ arguments: [String], as user: String? = "postgres") throws -> String {
        let path = try self.path(of: program)
        let output = FileManager.default.temporaryDirectory.path + "/statecast-output-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: output) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let switching = user.map { getuid() == 0 ? ["/usr/sbin/runuser", "-u", $0, "--"] : [] } ?? []
        let words = switching + [path] + arguments
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        guard posix_spawn(&process, words[0], &actions, nil, &pointers, environ) == 0 else {
            throw Failure(description: "cannot start \(words[0])")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let text = ((try? String(contentsOfFile: output, encoding: .utf8)) ?? "").trimmingCharacters(in: .newlines)
        guard status == 0 else { throw Failure(description: "\(words.joined(separator: " ")) failed: \(text)") }
        return text
    }

    /// Debian keeps the programs of each version in a folder of its own.
    private static func path(of program: String) throws -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let own = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = own + ["/usr/sbin"] + path.split(separator: ":").map(String.init)
        guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") })
        else {
            throw Failure(description: "\(program) is missing: run scripts/install-libraries --tests")
        }
        return "\(folder)/\(program)"
    }

    /// Functions of a shell that run PostgreSQL's programs by their names.
    package static func shellFunctions() throws -> String {
        let user = getuid() == 0 ? "runuser -u postgres -- " : ""
        return try ["initdb", "pg_ctl", "pg_basebackup"].map { "\($0)() { \(user)\(try path(of: $0)) \"$@\"; }\n" }
            .joined()
    }

    /// Lets the server encrypt connections, and creates two roles without other rights than those of a node: `secret`
    /// has a password, `certified` a certificate.
    ///
    /// - Returns: the folder of `ca.pem`, `certified.pem` and `certified.key`, which this user can read.
    package func encrypt(password: String) throws -> String {
        let place = folder + "/tls"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        // The test's user makes the files; the server gets a copy of its own, since it refuses a key that others own.
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        func make(_ name: String, _ more: [String]) throws {
            let files = ["-keyout", "\(place)/\(name).key", "-out", "\(place)/\(name).pem"]
            try Self.run("openssl", ["req", "-x509"] + key + files + more, as: nil)
        }
        try make("ca", ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        try make("certified", ["-subj", "/CN=certified", "-CA", "\(place)/ca.pem", "-CAkey", "\(place)/ca.key"])
        for (name, copy) in [("ca.pem", "server.crt"), ("ca.key", "server.key")] {
            let bytes = FileManager.default.contents(atPath: "\(place)/\(name)")
            try bytes?.write(to: URL(filePath: "\(data)/\(copy)"))
            chmod("\(data)/\(copy)", 0o600)
            if getuid() == 0, let user = getpwnam("postgres") {
                chown("\(data)/\(copy)", user.pointee.pw_uid, user.pointee.pw_gid)
            }
        }
        let rules = """
            hostssl all secret 127.0.0.1/32 scram-sha-256
            hostssl all certified 127.0.0.1/32 cert
            host all secret,certified all reject

            """
        let file = "\(data)/pg_hba.conf"
        let before = try String(contentsOfFile: file, encoding: .utf8)
        let handle = FileHandle(forWritingAtPath: file)
        try handle?.write(contentsOf: Data((rules + before).utf8))
        try handle?.close()
        try sql("CREATE ROLE secret LOGIN PASSWORD '\(password)'; CREATE ROLE certified LOGIN")
        try sql(
            """
            GRANT USAGE ON SCHEMA statecast TO secret, certified;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA statecast TO secret, certified
            """
        )
        try set("ssl_ca_file", to: "server.crt")
        try set("ssl", to: "on")
        return place
    }

    /// Copies the content of the database to another server, also while this one is in use.
    package func dump(to other: PostgresServer) throws {
        let file = "\(folder)/dump-\(UUID().uuidString)"
        try Self.run("pg_dump", ["--dbname", uri, "--format=custom", "--file", file])
        try Self.run("pg_restore", ["--dbname", other.uri, "--exit-on-error", file])
    }

    package static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw Failure(description: "there is no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
