import Foundation

/// Any free port of this machine.
let anyPort = "tcp://127.0.0.1:*"

/// A folder for one test, removed with the object.
final class Folder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "statecast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// An input of some lines that does not end while this object exists.
final class OpenInput: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: Folder, _ text: String) throws {
        path = folder.path + "/input"
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        let bytes = Array(text.utf8)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else { throw POSIXError(.EIO) }
    }

    deinit { close(descriptor) }
}

#if os(Linux)
    /// A disk that fails on demand, for one process, whose calls it intercepts.
    final class BrokenDisk: Sendable {
        private let folder: Folder
        private var library: String { folder.path + "/broken-disk.so" }
        private var trigger: String { folder.path + "/is-broken" }

        /// The C compiler of the Swift toolchain.
        private static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }

        static var isAvailable: Bool { compiler != nil }

        init() throws {
            folder = try Folder()
            let source = folder.path + "/broken-disk.c"
            try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
            let clang = Process()
            clang.executableURL = URL(filePath: Self.compiler ?? "")
            clang.arguments = ["-shared", "-fPIC", "-o", library, source]
            try clang.run()
            clang.waitUntilExit()
        }

        /// Runs another tool with this disk.
        static let runner = Tool(name: "/usr/bin/env")

        /// The arguments before the path of the other tool.
        var arguments: [String] { ["LD_PRELOAD=\(library)", "BROKEN_DISK=\(trigger)"] }

        func breakDown() throws { try Data().write(to: URL(filePath: trigger)) }

        /// Makes fsync fail for SQLite's log.
        private static let source = """
            #define _GNU_SOURCE
            #include <errno.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/syscall.h>
            #include <unistd.h>

            static int is_broken(int descriptor) {
                char link[64], path[4096];
                snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
                ssize_t count = readlink(link, path, sizeof path - 1);
                if (count < 4) return 0;
                path[count] = 0;
                return strcmp(path + count - 4, "-wal") == 0 && access(getenv("BROKEN_DISK"), F_OK) == 0;
            }

            static int answer(int descriptor, long call) {
                if (!is_broken(descriptor)) return syscall(call, descriptor);
                errno = EIO;
                return -1;
            }

            int fsync(int descriptor) { return answer(descriptor, SYS_fsync); }
            int fdatasync(int descriptor) { return answer(descriptor, SYS_fdatasync); }
            """
    }
#endif
