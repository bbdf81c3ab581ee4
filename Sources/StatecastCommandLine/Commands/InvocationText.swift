#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The arguments and variables of the process, which must be UTF-8. Swift replaces other bytes, so that two paths would
/// become one.
package enum InvocationText {
    /// Checks the command's arguments.
    ///
    /// - Throws: ``CommandFailure`` that names the first argument that is not UTF-8.
    static func checkArguments() throws {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            _ = try text(argument, of: "argument \(index)")
        }
    }

    /// A variable of the environment; `nil` if it is not set.
    ///
    /// - Throws: ``CommandFailure`` if its value is not UTF-8.
    package static func variable(_ name: String) throws -> String? {
        guard let value = getenv(name) else { return nil }
        return try text(value, of: "the variable \(name)")
    }

    private static func text(_ bytes: UnsafePointer<CChar>, of place: String) throws -> String {
        guard let text = String(validatingCString: bytes) else {
            throw CommandFailure.wrongUsage(
                "expected UTF-8, got other bytes in \(place) (\(String(cString: bytes))): rename the file or "
                    + "directory, or give a symbolic link to it"
            )
        }
        return text
    }
}
