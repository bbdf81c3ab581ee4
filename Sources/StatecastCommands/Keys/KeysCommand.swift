package import ArgumentParser
import Statecast
import StatecastCommandLine

package struct KeysCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast-keys",
        abstract: "Makes and shows the keys of nodes, for encrypted and authenticated connections.",
        discussion: """
            A key file has the public and the secret key of one node. It must belong to the node's user, or to root, \
            and be accessible to no other user. The public key identifies the node, and may be known to everyone.

            Exit codes: 0 done, 64 wrong usage, 1 failed.
            """,
        version: Release.line(of: "statecast-keys"),
        subcommands: [GenerateCommand.self, ShowCommand.self, FingerprintCommand.self]
    )

    package init() {}
}

struct GenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes a new key pair to a file, and prints its public key.",
        discussion: "An existing file is never overwritten."
    )

    @Argument(help: "The path of the new file.")
    var path: String

    func run() async throws {
        try await reportingFailures {
            try await LineOutput().write(KeyFiles.generate(at: path).description)
        }
    }
}

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints the public key of a key file."
    )

    @Argument(help: "The key file.")
    var path: String

    func run() async throws {
        try await reportingFailures {
            try await LineOutput().write(KeyFiles.keys(at: path).publicKey.description)
        }
    }
}

struct FingerprintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fingerprint",
        abstract: "Prints a digest of a public key, to compare keys by eye."
    )

    @Argument(
        help: ArgumentHelp(
            "The key file, or a public key. A file whose name could be a key is named with its folder: ./NAME.",
            valueName: "path-or-key"
        )
    )
    var name: String

    func run() async throws {
        try await reportingFailures {
            let key = try NodePublicKey(name) ?? KeyFiles.keys(at: name).publicKey
            try await LineOutput().write(key.fingerprint)
        }
    }
}
