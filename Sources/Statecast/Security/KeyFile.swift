internal import Cryptography
internal import DurableFiles
internal import ZeroMQ

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file of a node's keys, three lines of text. Empty lines, and those that begin with `#`, are comments.
///
/// ```text
/// # Keep this file secret: a process that can read it can act as the node.
/// public rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7
/// secret JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6
/// ```
extension NodeKeys {
    private static let comment = "# Keep this file secret: a process that can read it can act as the node."

    /// Reads a key file.
    ///
    /// - Parameters:
    ///   - path: of a file that belongs to this process's user or to root, and to which nobody else has access.
    ///   - credentialsDirectory: where the service manager keeps the process's credentials (`$CREDENTIALS_DIRECTORY` of
    ///     systemd). There a file may seem to be accessible to a group: systemd gives access with a list (ACL).
    /// - Throws: ``StatecastError`` with code `keys`: what is wrong with the file, and what to do. It quotes nothing of
    ///   the file.
    public init(readingFileAt path: String, credentialsDirectory: String? = nil) throws(StatecastError) {
        var bytes = try Self.bytes(ofFileAt: path, credentialsDirectory)
        defer { SecretMemory.wipe(&bytes) }
        var keys: CurveKeyPair?
        var publicKey: CurvePublicKey?
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            let word = line.prefix { $0 != UInt8(ascii: " ") }
            let key = line.dropFirst(word.count + 1)
            if word.elementsEqual("public".utf8), publicKey == nil {
                publicKey = CurvePublicKey(String(decoding: key, as: UTF8.self))
            } else if word.elementsEqual("secret".utf8), keys == nil {
                keys = CurveKeyPair(secretText: key)
            } else {
                throw Self.malformed(path, "has a line that is not expected")
            }
        }
        guard let keys, let publicKey else { throw Self.malformed(path, "lacks a key, or has a malformed one") }
        guard keys.publicKey == publicKey else { throw Self.malformed(path, "has two keys that are no pair") }
        curve = keys
    }

    private static func malformed(_ path: String, _ fault: String) -> StatecastError {
        StatecastError(
            .keys,
            "the key file \(path) \(fault): expected a line \"public KEY\" and a line \"secret KEY\", as "
                + "statecast-keys generate writes them"
        )
    }

    /// More than a key file with some comments has.
    private static let bytesMax = 4096

    private static func bytes(
        ofFileAt path: String,
        _ credentialsDirectory: String?
    ) throws(StatecastError) -> [UInt8] {
        let file = try SmallFile(readingFileAt: path, "key file", bytesMax: bytesMax)
        let isCredential = credentialsDirectory.map { contains($0, path) } ?? false
        guard file.status.isOwned, file.status.permissions & (isCredential ? 0o007 : 0o077) == 0 else {
            throw StatecastError(
                .keys,
                "the key file \(path) is accessible to other users: make it this user's or root's, run chmod 600 on "
                    + "it, and make new keys if others may have read it"
            )
        }
        return file.bytes
    }

    /// Whether the path, without symbolic links, is directly in a directory.
    private static func contains(_ directory: String, _ path: String) -> Bool {
        guard let folder = resolved(directory), let file = resolved(path) else { return false }
        return file.split(separator: "/").dropLast() == folder.split(separator: "/")[...]
    }

    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// Writes a new key file, which only this process's user can read and write; durable on return.
    ///
    /// - Throws: ``StatecastError`` with code `keys` if there is a file at the path, or it cannot be written.
    public func write(toNewFileAt path: String) throws(StatecastError) {
        var text = Array("\(Self.comment)\npublic \(publicKey)\nsecret ".utf8)
        // Otherwise the array leaves a copy of the secret where it grows.
        text.reserveCapacity(text.count + 64)
        curve.withSecretText { text.append(contentsOf: $0.dropLast()) }
        text.append(UInt8(ascii: "\n"))
        defer { SecretMemory.wipe(&text) }
        do throws(SystemFailure) {
            let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL)
            do throws(SystemFailure) {
                try file.write(text[...], at: 0)
                try file.sync()
                try OpenFile.syncFolder(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
            } catch {
                unlink(path)
                throw error
            }
        } catch {
            let reason = error.code == EEXIST ? "there is one, and keys are never overwritten" : error.reason
            throw StatecastError(.keys, "the key file \(path) cannot be written: \(reason)", cause: error)
        }
    }
}
