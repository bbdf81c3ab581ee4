import CStatecastPlatform
package import Statecast

/// The key files of commands. Before a secret key is in memory, core dumps of the process are disabled.
package enum KeyFiles {
    /// Reads a key file.
    ///
    /// - Throws: `StatecastError` with code `keys`; ``CommandFailure``.
    package static func keys(at path: String) throws -> NodeKeys {
        try disableCoreDumps()
        let credentials = try InvocationText.variable("CREDENTIALS_DIRECTORY")
        return try NodeKeys(readingFileAt: path, credentialsDirectory: credentials)
    }

    /// Makes a key file.
    ///
    /// - Throws: as ``keys(at:)``.
    package static func generate(at path: String) throws -> NodePublicKey {
        try disableCoreDumps()
        let keys = NodeKeys.generate()
        try keys.write(toNewFileAt: path)
        return keys.publicKey
    }

    private static func disableCoreDumps() throws {
        guard statecast_disable_core_dumps() else {
            throw CommandFailure.failed("core dumps, which would contain the secret key, cannot be disabled")
        }
    }
}
