internal import Configuration
internal import Foundation
internal import StateCoding

/// The config file: one JSON object whose keys are ``SettingKey``s.
enum SettingsFile {
    /// Reads the file, and refuses what would otherwise be ignored in silence.
    ///
    /// - Throws: ``CommandFailure`` that names the file, and the place or the key.
    static func provider(at path: String) async throws -> any ConfigProvider {
        try check(path)
        let file = ConfigReader(provider: InMemoryProvider(values: ["filePath": .init(stringLiteral: path)]))
        do { return try await FileProvider<JSONSnapshot>(config: file) } catch {
            throw CommandFailure.wrongUsage("the config file \(path) cannot be read: \(error)")
        }
    }

    private static func check(_ path: String) throws {
        let bytes: [UInt8]
        do { bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path))) } catch {
            let reason = FileManager.default.fileExists(atPath: path) ? "cannot be read" : "does not exist"
            throw CommandFailure.wrongUsage("the config file \(path) \(reason): name another with --config")
        }
        let value: Value
        do { value = try JSON.value(parsing: bytes) } catch {
            throw CommandFailure.wrongUsage("the config file \(path) is not JSON: \(error.message)")
        }
        guard let entries = value.mapValue else {
            throw CommandFailure.wrongUsage(
                "the config file \(path) is not a JSON object, such as {\"store\": \"fleet\"}"
            )
        }
        for (key, element) in entries {
            let name = key.textValue ?? "\(key)"
            guard SettingKey(rawValue: name) != nil else {
                let known = SettingKey.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure.wrongUsage(
                    "the config file \(path) has the unknown key \"\(name)\": the keys are \(known)"
                )
            }
            switch element {
            case .text, .bool, .unsigned, .negative, .float: break
            default:
                throw CommandFailure.wrongUsage(
                    "the config file \(path) has \(JSON.text(of: element)) for \"\(name)\": "
                        + "a setting is a text, a number, true or false"
                )
            }
        }
    }
}
