internal import Configuration
internal import Foundation
internal import Statecast

/// What a command was told: flags win over the environment, the environment over the config file.
package struct Settings: Sendable {
    private let reader: ConfigReader
    /// Warnings about `STATECAST_` variables that are not settings.
    let strangeVariables: [String]

    /// Gathers what was told.
    ///
    /// - Parameters:
    ///   - flags: what was given on the command line.
    ///   - path: the config file; without one the variable `STATECAST_CONFIG` may name it.
    ///   - variables: the environment; `nil`: this process's.
    /// - Throws: ``CommandFailure`` if there is a file to read, and something about it is wrong.
    package init(
        flags: [SettingKey: SettingFlag],
        file path: String?,
        environment variables: [String: String]? = nil
    ) async throws {
        var given: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, flag) in flags {
            given[[key.rawValue]] = flag.content.map { ConfigValue($0, isSecret: false) }
        }
        let environment =
            variables.map { EnvironmentVariablesProvider(environmentVariables: $0) } ?? EnvironmentVariablesProvider()
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: given), environment.prefixKeys(with: "statecast"),
        ]
        if let path = try path ?? environment.environmentValue(forName: "STATECAST_CONFIG") {
            providers.append(try await SettingsFile.provider(at: path))
        }
        reader = ConfigReader(providers: providers)
        strangeVariables = Self.strangeVariables(in: variables ?? ProcessInfo.processInfo.environment)
    }

    /// No errors: others may have put them there, such as Kubernetes for a service named after an executable.
    private static func strangeVariables(in environment: [String: String]) -> [String] {
        let known = SettingKey.allCases.map(\.variable) + ["STATECAST_CONFIG"]
        return environment.keys.filter { $0.hasPrefix("STATECAST_") && !known.contains($0) }.sorted().map { name in
            let hint = name.nearest(among: known).map { ": did you mean \($0)?" } ?? ""
            return "the variable \(name) is not a setting and is ignored\(hint)"
        }
    }

    /// A text that is not empty: there is no setting for which that would mean anything.
    package func text(_ key: SettingKey) async throws -> String? {
        let text = try await value(key, "a text") { try await reader.fetchString(forKey: key.configKey) }
        guard text?.isEmpty != true else {
            throw CommandFailure.wrongUsage("expected a text that is not empty for \(key.places)")
        }
        return text
    }

    /// A switch; off unless it was turned on.
    package func isOn(_ key: SettingKey) async throws -> Bool {
        try await value(key, "true or false") { try await reader.fetchBool(forKey: key.configKey) } ?? false
    }

    /// A length of time: a number of seconds, or a number and one of ms, s, m, h and d.
    package func duration(_ key: SettingKey) async throws -> Duration? {
        guard let text = try await durationText(key) else { return nil }
        guard let seconds = DurationText.seconds(text) else {
            throw CommandFailure.wrongUsage(
                "expected a duration such as 5, 500ms, 2m or 1h for \(key.places), got \"\(text)\""
            )
        }
        guard DurationText.sensible.contains(seconds) else {
            throw CommandFailure.wrongUsage(
                "the duration \(text) makes no sense (\(key.places)): expected 1ms to 1000000000s"
            )
        }
        return .seconds(seconds)
    }

    /// As it was given; the config file may have it as a number.
    private func durationText(_ key: SettingKey) async throws -> String? {
        if let seconds = try? await reader.fetchDouble(forKey: key.configKey) { return "\(seconds)" }
        return try await text(key)
    }

    /// How many of something.
    package func count(_ key: SettingKey, min: Int, max: Int = 1_000_000) async throws -> Int? {
        guard let count = try await value(key, "a whole number", { try await reader.fetchInt(forKey: key.configKey) })
        else {
            return nil
        }
        guard (min...max).contains(count) else {
            throw CommandFailure.wrongUsage("\(count) makes no sense (\(key.places)): expected \(min) to \(max)")
        }
        return count
    }

    /// The size of something.
    package func bytes(_ key: SettingKey, min: Int) async throws -> Int? {
        try await count(key, min: min, max: Self.bytesMax)
    }

    private static let bytesMax = 1 << 50

    /// An endpoint, of which only the spelling is known to be right.
    package func endpoint(_ key: SettingKey) async throws -> String? {
        guard let text = try await text(key) else { return nil }
        do { try EndpointSyntax.check(text) } catch {
            throw CommandFailure.wrongUsage("\(error.message) (\(key.places))")
        }
        return text
    }

    /// One of a few words; the first unless another was chosen.
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

    /// The reader says which key, not what was expected nor where the value may have come from.
    private func value<T>(_ key: SettingKey, _ expected: String, _ read: () async throws -> T?) async throws -> T? {
        do { return try await read() } catch {
            throw CommandFailure.wrongUsage("expected \(expected) for \(key.places)")
        }
    }
}

extension SettingKey {
    fileprivate var configKey: ConfigKey { ConfigKey([rawValue]) }
}
