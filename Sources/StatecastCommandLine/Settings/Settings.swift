import Configuration
package import Statecast
import StatecastCoding
import StatecastFiles
import StatecastJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A setting that flags, the environment and a config file can give. All executables share the keys, and can share a
/// file.
package enum SettingKey: String, CaseIterable, Sendable {
    case app, publish, actions, receipts, advertiseActions, highWaterMark
    case journal, durability, snapshotBytes, snapshotRecords, historyBytes, lease
    case from, store, name, peers, insecure, busyPollingMax, maxMemory, timeout, interval
    case keys, access, primaryKey
    case listen, tokenFile, sessionSecretFile, allowSend, hide, hidePayload, host, allowOrigin, pages
    case monitor, insecureHttp, metricsFile
    case logLevel, logFormat

    /// As a flag: `--advertise-actions`.
    var flag: String { "--" + words.joined(separator: "-") }

    /// In the environment: `STATECAST_ADVERTISE_ACTIONS`.
    var variable: String { (["statecast"] + words).map { $0.uppercased() }.joined(separator: "_") }

    /// The names of the setting in all three sources, for messages.
    var places: String { "\(flag), \(variable), or \"\(rawValue)\" in the config file" }

    private var words: [String] {
        var words = [""]
        for character in rawValue {
            if character.isUppercase { words.append("") }
            words[words.count - 1] += character.lowercased()
        }
        return words
    }

    fileprivate var configKey: ConfigKey { ConfigKey([rawValue]) }
}

/// A setting's value on the command line; `nil` where the flag is absent.
package enum SettingFlag: Sendable {
    case text(String?)
    case count(Int?)
    case isOn(Bool?)

    fileprivate var content: ConfigContent? {
        switch self {
        case .text(let text): text.map(ConfigContent.string)
        case .count(let count): count.map(ConfigContent.int)
        case .isOn(let isOn): isOn.map(ConfigContent.bool)
        }
    }
}

/// The settings of a command: flags win over the environment, the environment over the config file.
///
/// A reading function throws a ``CommandFailure`` for wrong usage that names the setting in all three sources.
package struct Settings: Sendable {
    private let reader: ConfigReader
    /// Warnings about `STATECAST_` variables that are not settings.
    let unknownVariables: [String]

    /// Reads the sources.
    ///
    /// - Parameters:
    ///   - path: the config file; without one the variable `STATECAST_CONFIG` may name it.
    ///   - variables: the environment; `nil`: this process's.
    /// - Throws: ``CommandFailure`` if the config file cannot be read, or is invalid, or a variable is not UTF-8.
    package init(
        flags: [SettingKey: SettingFlag],
        file path: String?,
        environment variables: [String: String]? = nil
    ) async throws {
        var given: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, flag) in flags {
            given[[key.rawValue]] = flag.content.map { ConfigValue($0, isSecret: false) }
        }
        if variables == nil {
            for name in Self.variables { _ = try InvocationText.variable(name) }
        }
        let environment =
            variables.map { EnvironmentVariablesProvider(environmentVariables: $0) } ?? EnvironmentVariablesProvider()
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: given), environment.prefixKeys(with: "statecast"),
        ]
        if let path = try path ?? environment.environmentValue(forName: "STATECAST_CONFIG") {
            providers.append(try SettingsFile.provider(at: path))
        }
        reader = ConfigReader(providers: providers)
        unknownVariables = Self.unknownVariables(in: variables ?? ProcessInfo.processInfo.environment)
    }

    /// The variables that are settings.
    private static let variables = SettingKey.allCases.map(\.variable) + ["STATECAST_CONFIG"]

    /// Warnings, not errors: Kubernetes, for example, sets such variables for a service named after an executable.
    private static func unknownVariables(in environment: [String: String]) -> [String] {
        environment.keys.filter { $0.hasPrefix("STATECAST_") && !variables.contains($0) }.sorted().map { name in
            let hint = name.nearest(among: variables).map { ": did you mean \($0)?" } ?? ""
            return "the variable \(name) is not a setting and is ignored\(hint)"
        }
    }

    /// A text; an empty one is refused, because no setting gives it a meaning.
    package func text(_ key: SettingKey) async throws -> String? {
        let text = try await value(key, "a text") { try await reader.fetchString(forKey: key.configKey) }
        guard text?.isEmpty != true else {
            throw CommandFailure.wrongUsage("expected a text that is not empty for \(key.places)")
        }
        return text
    }

    /// A switch, which is off by default.
    package func isOn(_ key: SettingKey) async throws -> Bool {
        try await value(key, "true or false") { try await reader.fetchBool(forKey: key.configKey) } ?? false
    }

    /// A duration: a number of seconds, or a number with one of the units us, ms, s, m, h and d.
    ///
    /// - Parameter min: the minimum, as such a text.
    package func duration(_ key: SettingKey, min: String = "1ms") async throws -> Duration? {
        guard let text = try await durationText(key) else { return nil }
        guard let seconds = DurationText.seconds(text) else {
            throw CommandFailure.wrongUsage(
                "expected a duration such as 5, 500ms, 2m or 1h for \(key.places), got \"\(text)\""
            )
        }
        guard seconds >= DurationText.seconds(min) ?? 0, seconds <= DurationText.maxSeconds else {
            throw CommandFailure.wrongUsage(
                "the duration \(text) is out of range (\(key.places)): expected \(min) to 1000000000s"
            )
        }
        return .seconds(seconds)
    }

    /// The keys of a node, from the file that the setting names; `nil` without one.
    ///
    /// - Throws: `StatecastError` with code `keys`; ``CommandFailure`` if ``SettingKey/insecure`` is on, too.
    package func nodeKeys() async throws -> NodeKeys? {
        guard let path = try await text(.keys) else { return nil }
        guard try await !isOn(.insecure) else {
            throw CommandFailure.wrongUsage(
                "with keys all traffic is encrypted: leave out \(SettingKey.insecure.places)"
            )
        }
        return try KeyFiles.keys(at: path)
    }

    /// Requires a setting that belongs to the keys of a node, and refuses it without keys.
    package func text(_ key: SettingKey, with keys: NodeKeys?) async throws -> String? {
        let text = try await text(key)
        guard (text == nil) == (keys == nil) else {
            let (given, missing) = text == nil ? (SettingKey.keys, key) : (key, .keys)
            throw CommandFailure.wrongUsage("\(given.flag) needs \(missing.places)")
        }
        return text
    }

    /// The busy polling of a node; `nil` for the default.
    package func busyPollingMax() async throws -> Duration? { try await duration(.busyPollingMax, min: "0") }

    /// The memory that the process of a node may use; `nil`: no limit.
    package func maxMemory() async throws -> Int? {
        let bytes = try await bytes(.maxMemory, min: 0) ?? 1 << 30
        return bytes == 0 ? nil : bytes
    }

    /// The config file may give a duration as a number.
    private func durationText(_ key: SettingKey) async throws -> String? {
        if let seconds = try? await reader.fetchDouble(forKey: key.configKey) { return "\(seconds)" }
        if let seconds = try? await reader.fetchInt(forKey: key.configKey) { return "\(seconds)" }
        return try await text(key)
    }

    /// A whole number.
    package func count(_ key: SettingKey, min: Int, max: Int = 1_000_000) async throws -> Int? {
        guard let count = try await value(key, "a whole number", { try await reader.fetchInt(forKey: key.configKey) })
        else {
            return nil
        }
        guard (min...max).contains(count) else {
            throw CommandFailure.wrongUsage("\(count) is out of range (\(key.places)): expected \(min) to \(max)")
        }
        return count
    }

    /// A size in bytes.
    package func bytes(_ key: SettingKey, min: Int) async throws -> Int? {
        try await count(key, min: min, max: 1 << 50)
    }

    /// An endpoint; only its syntax is checked.
    package func endpoint(_ key: SettingKey) async throws -> String? { try await endpoints(key, separator: nil) }

    /// The endpoints of the nodes of one primary, separated by commas; only their syntax is checked.
    package func endpoints(_ key: SettingKey) async throws -> String? { try await endpoints(key, separator: ",") }

    private func endpoints(_ key: SettingKey, separator: Character?) async throws -> String? {
        guard let text = try await text(key) else { return nil }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == separator }
        for part in parts { try checkSyntax(ofEndpoint: String(part), key) }
        return text
    }

    private func checkSyntax(ofEndpoint text: String, _ key: SettingKey) throws {
        do { try EndpointSyntax.check(text) } catch {
            throw CommandFailure.wrongUsage("\(error.message) (\(key.places))")
        }
    }

    /// One of several words.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: SettingKey,
        default standard: Choice
    ) async throws -> Choice {
        guard let text = try await text(key) else { return standard }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure.wrongUsage("\"\(text)\" is none of \(words) (\(key.places))")
        }
        return choice
    }

    /// Replaces the reader's errors, which name the key alone.
    private func value<T>(_ key: SettingKey, _ expected: String, _ read: () async throws -> T?) async throws -> T? {
        do { return try await read() } catch {
            throw CommandFailure.wrongUsage("expected \(expected) for \(key.places)")
        }
    }
}

/// The config file: one JSON object whose keys are ``SettingKey``s.
private enum SettingsFile {
    private static let maxBytes = 1 << 20

    /// Reads the file, and refuses unknown keys and unsuitable values.
    ///
    /// - Throws: ``CommandFailure`` that names the file, and the place or the key.
    static func provider(at path: String) throws -> any ConfigProvider {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, content) in try contents(of: path) { values[[name]] = ConfigValue(content, isSecret: false) }
        return InMemoryProvider(name: path, values: values)
    }

    private static func contents(of path: String) throws -> [(name: String, ConfigContent)] {
        let bytes: [UInt8]
        do throws(SystemFailure) { bytes = try OpenFile(path, O_RDONLY).read(maxBytes + 1) } catch {
            throw CommandFailure.wrongUsage(
                error.code == ENOENT
                    ? "the config file \(path) does not exist: name another with --config"
                    : "the config file \(path) cannot be read: \(error.reason)"
            )
        }
        guard bytes.count <= maxBytes else {
            throw CommandFailure.wrongUsage("the config file \(path) is longer than \(maxBytes) bytes")
        }
        let value: Value
        do { value = try JSON.value(parsing: Array(bytes.withoutByteOrderMark)) } catch {
            throw CommandFailure.wrongUsage("the config file \(path) is not JSON: \(error.message)")
        }
        guard let entries = value.mapValue else {
            throw CommandFailure.wrongUsage(
                "the config file \(path) is not a JSON object, such as {\"store\": \"fleet\"}"
            )
        }
        return try entries.map { key, element in
            let name = key.textValue ?? "\(key)"
            guard SettingKey(rawValue: name) != nil else {
                let known = SettingKey.allCases.map(\.rawValue)
                let hint = name.nearest(among: known).map { " (did you mean \"\($0)\"?)" } ?? ""
                throw CommandFailure.wrongUsage(
                    "the config file \(path) has the unknown key \"\(name)\"\(hint): the keys are "
                        + known.joined(separator: ", ")
                )
            }
            switch element {
            case .text(let text): return (name, .string(text))
            case .bool(let isOn): return (name, .bool(isOn))
            case .unsigned, .negative, .float:
                let number = element.intValue.map(ConfigContent.int) ?? element.doubleValue.map(ConfigContent.double)
                return (name, number ?? .string(JSON.text(of: element)))
            default:
                throw CommandFailure.wrongUsage(
                    "the config file \(path) has \(JSON.text(of: element)) for \"\(name)\": "
                        + "a setting is a text, a number, true or false"
                )
            }
        }
    }
}

/// A duration as text: `5`, `0.25`, `500ms`, `2m`.
private enum DurationText {
    static let maxSeconds = 1e9

    private static let units: [(suffix: String, seconds: Double)] = [
        // The longer suffixes first.
        ("us", 1e-6), ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
    ]

    /// The duration in seconds, the default unit; `nil` if the text is not a duration.
    static func seconds(_ text: String) -> Double? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        guard let number = Double(text.dropLast(unit?.suffix.count ?? 0)), number.isFinite else { return nil }
        return number * (unit?.seconds ?? 1)
    }
}
