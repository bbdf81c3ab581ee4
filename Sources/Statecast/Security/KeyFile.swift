import StatecastCryptography
import StatecastFiles
import StatecastZeroMQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
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
    /// No other user may be able to replace the file: protect its folder, too.
    ///
    /// - Parameters:
    ///   - path: of a file that belongs to this process's user or to root, and to which no other user has access. On
    ///     macOS access control lists (ACL) are not checked.
    ///   - credentialsDirectory: where the service manager keeps the process's credentials (`$CREDENTIALS_DIRECTORY` of
    ///     systemd). A file there may seem to be readable by its group: systemd gives access with an ACL.
    /// - Throws: ``StatecastError`` with code `keys`: what is wrong with the file, and what to do. It quotes nothing of
    ///   the file.
    public init(readingFileAt path: String, credentialsDirectory: String? = nil) throws(StatecastError) {
        var file = try CheckedFile(
            readingFileAt: path,
            "key file",
            maxBytes: Self.maxBytes,
            forbidden: { status in
                credentialsDirectory.map { Self.contains($0, path, status) } ?? false ? 0o037 : 0o077
            },
            advice: "run chmod 600 on it, and make new keys if others may have read it"
        )
        // In place: with another reference to the bytes, a copy of them would be wiped.
        defer { SecretMemory.wipe(&file.bytes) }
        curve = try Self.keys(in: file.bytes, of: path)
    }

    static func keys(in bytes: [UInt8], of path: String) throws(StatecastError) -> CurveKeyPair {
        var keys: CurveKeyPair?
        var publicKey: CurvePublicKey?
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let word = line.prefix { $0 != UInt8(ascii: " ") }
            let key = line.dropFirst(word.count + 1)
            if word.elementsEqual("public".utf8), publicKey == nil {
                publicKey = CurvePublicKey(String(decoding: key, as: UTF8.self))
                guard publicKey != nil else { throw malformed(path, "line \(index + 1) has no valid key") }
            } else if word.elementsEqual("secret".utf8), keys == nil {
                keys = CurveKeyPair(secretText: key)
                guard keys != nil else { throw malformed(path, "line \(index + 1) has no valid key") }
            } else {
                throw malformed(path, "line \(index + 1) is not expected")
            }
        }
        guard let keys, let publicKey else { throw malformed(path, "a key is missing") }
        guard keys.publicKey == publicKey else {
            throw malformed(path, "the public key does not belong to the secret key")
        }
        return keys
    }

    private static func malformed(_ path: String, _ fault: String) -> StatecastError {
        StatecastError(
            .keys,
            "the key file \(path) is not used: \(fault); expected a line \"public KEY\" and a line \"secret KEY\", as "
                + "statecast-keys generate writes them"
        )
    }

    /// More than a key file with some comments has.
    private static let maxBytes = 4096

    /// Whether a file is directly in a directory.
    private static func contains(_ directory: String, _ path: String, _ file: FileStatus) -> Bool {
        guard let folder = resolved(directory), let target = resolved(path), FileStatus(target) == file else {
            return false
        }
        return target.split(separator: "/").dropLast() == folder.split(separator: "/")[...]
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
