internal import Configuration
internal import Foundation
internal import StateCoding
internal import StateJSON
internal import Statecast

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
        do { bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path))) } catch CocoaError.fileReadNoSuchFile {
            throw CommandFailure.wrongUsage("the config file \(path) does not exist: name another with --config")
        } catch {
            throw CommandFailure.wrongUsage("the config file \(path) cannot be read: \(error.localizedDescription)")
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
        for (key, element) in entries {
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
