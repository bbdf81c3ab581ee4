import ArgumentParser
import Foundation
import Testing

@testable import StatecastCommandLine

@Suite struct SettingsTests {
    private let folder: SettingsFolder

    init() throws { folder = try SettingsFolder() }

    private enum Colour: String, CaseIterable { case red, green }

    private func settings(
        flags: [SettingKey: SettingFlag] = [:],
        environment: [String: String] = [:],
        file: String? = nil
    ) async throws -> Settings {
        let path = try file.map { try folder.file($0) }
        return try await Settings(flags: flags, file: path, environment: environment)
    }

    /// The message of the failure, which must be wrong usage.
    private func complaint(_ body: () async throws -> Void) async throws -> String {
        let failure = try await #require(throws: CommandFailure.self) { try await body() }
        #expect(failure.exitCode == .validationFailure)
        #expect(!failure.message.contains("\n"), "one line")
        return failure.message
    }

    // MARK: Precedence

    @Test func `a flag wins over the environment, the environment over the file`() async throws {
        let (variable, file) = (["STATECAST_STORE": "environment"], #"{"store":"file"}"#)
        let all = try await settings(flags: [.store: .text("flag")], environment: variable, file: file)
        #expect(try await all.text(.store) == "flag")
        let two = try await settings(flags: [.store: .text(nil)], environment: variable, file: file)
        #expect(try await two.text(.store) == "environment")
        #expect(try await settings(file: file).text(.store) == "file")
        #expect(try await settings().text(.store) == nil)
    }

    @Test func `a flag that turns a switch off wins`() async throws {
        let (variable, file) = (["STATECAST_INSECURE": "true"], #"{"insecure":true}"#)
        let off = try await settings(flags: [.insecure: .isOn(false)], environment: variable, file: file)
        #expect(try await off.isOn(.insecure) == false)
        #expect(try await settings(environment: ["STATECAST_INSECURE": "false"], file: file).isOn(.insecure) == false)
        #expect(try await settings(environment: variable).isOn(.insecure))
        #expect(try await settings(file: file).isOn(.insecure))
        #expect(try await settings().isOn(.insecure) == false)
    }

    @Test func `keys of several words are read from every source`() async throws {
        let variable = ["STATECAST_ADVERTISE_ACTIONS": "tcp://a:1"]
        #expect(try await settings(environment: variable).text(.advertiseActions) == "tcp://a:1")
        #expect(try await settings(file: #"{"advertiseActions":"tcp://b:2"}"#).text(.advertiseActions) == "tcp://b:2")
        #expect(try await settings(flags: [.advertiseActions: .text("c")]).text(.advertiseActions) == "c")
    }

    @Test func `the environment may name the file, and a flag wins over it`() async throws {
        let (one, two) = (try folder.file(#"{"store":"one"}"#), try folder.file(#"{"store":"two"}"#))
        let environment = ["STATECAST_CONFIG": one]
        #expect(try await Settings(flags: [:], file: nil, environment: environment).text(.store) == "one")
        #expect(try await Settings(flags: [:], file: two, environment: environment).text(.store) == "two")
    }

    // MARK: Values

    @Test(arguments: [
        ("5", 5), ("0.25", 0.25), ("1e3", 1000), ("500ms", 0.5), ("250000us", 0.25), ("2s", 2), ("1.5m", 90),
        ("2h", 7200), ("1d", 86_400),
    ]) func `a duration is a number of seconds, or has a unit, from any source`(text: String, seconds: Double)
        async throws
    {
        let member = Double(text) == nil ? "\"\(text)\"" : text
        let settings = [
            try await settings(flags: [.timeout: .text(text)]),
            try await settings(environment: ["STATECAST_TIMEOUT": text]),
            try await settings(file: #"{"timeout":\#(member)}"#),
            try await settings(file: #"{"timeout":"\#(text)"}"#),
        ]
        for settings in settings { #expect(try await settings.duration(.timeout) == .seconds(seconds)) }
    }

    @Test func `a duration lies between a millisecond and a billion seconds`() async throws {
        for (text, duration) in [("1ms", Duration.seconds(0.001)), ("1e9", .seconds(1e9))] {
            let settings = try await settings(flags: [.timeout: .text(text)])
            #expect(try await settings.duration(.timeout) == duration)
        }
        for text in ["0", "-1", "0.9ms", "1.1e9", "1e300d", "-1e300"] {
            let settings = try await settings(flags: [.timeout: .text(text)])
            let complaint = try await complaint { _ = try await settings.duration(.timeout) }
            #expect(complaint.contains("\(text) is out of range") && complaint.contains("--timeout"), "\(complaint)")
        }
    }

    @Test func `a duration with a minimum of 0 may be 0, and shorter than a millisecond`() async throws {
        for (text, duration) in [("0", Duration.zero), ("400us", .microseconds(400))] {
            let settings = try await settings(environment: ["STATECAST_BUSY_POLLING_MAX": text])
            #expect(try await settings.duration(.busyPollingMax, min: "0") == duration)
        }
        let negative = try await settings(environment: ["STATECAST_BUSY_POLLING_MAX": "-1us"])
        let complaint = try await complaint { _ = try await negative.duration(.busyPollingMax, min: "0") }
        #expect(complaint.contains("expected 0 to 1000000000s"))
    }

    @Test(arguments: ["soon", "inf", "nan", "5 s", "ms", "5weeks"])
    func `an invalid duration is refused, and the error names the setting in every source`(text: String)
        async throws
    {
        for settings in [
            try await settings(flags: [.timeout: .text(text)]),
            try await settings(environment: ["STATECAST_TIMEOUT": text]),
            try await settings(file: #"{"timeout":"\#(text)"}"#),
        ] {
            let complaint = try await complaint { _ = try await settings.duration(.timeout) }
            #expect(
                complaint == "expected a duration such as 5, 500ms, 2m or 1h for --timeout, STATECAST_TIMEOUT, or "
                    + "\"timeout\" in the config file, got \"\(text)\""
            )
        }
    }

    @Test func `an unknown STATECAST_ variable is named, with the nearest setting`() async throws {
        let known = Dictionary(uniqueKeysWithValues: SettingKey.allCases.map { ($0.variable, "1") })
        #expect(try await settings(environment: known).unknownVariables.isEmpty)
        let strange = ["STATECAST_PUBLSIH": "x", "STATECAST_PRIMARY_SERVICE_HOST": "y", "OTHER": "z"]
        #expect(
            try await settings(environment: strange).unknownVariables == [
                "the variable STATECAST_PRIMARY_SERVICE_HOST is not a setting and is ignored",
                "the variable STATECAST_PUBLSIH is not a setting and is ignored: did you mean STATECAST_PUBLISH?",
            ]
        )
    }

    @Test func `a file may begin with a byte order mark`() async throws {
        #expect(try await settings(file: "\u{FEFF}" + #"{"store":"marked"}"#).text(.store) == "marked")
    }

    @Test func `a switch that is neither true nor false is refused`() async throws {
        let settings = try await settings(environment: ["STATECAST_INSECURE": "perhaps"])
        let complaint = try await complaint { _ = try await settings.isOn(.insecure) }
        #expect(complaint.hasPrefix("expected true or false for --insecure, STATECAST_INSECURE"))
    }

    @Test func `a number in the file is not a text`() async throws {
        let settings = try await settings(file: #"{"store":7}"#)
        let complaint = try await complaint { _ = try await settings.text(.store) }
        #expect(complaint.hasPrefix("expected a text for --store"))
    }

    @Test func `an empty text is refused, from any source`() async throws {
        for settings in [
            try await settings(flags: [.journal: .text("")]),
            try await settings(environment: ["STATECAST_JOURNAL": ""]),
            try await settings(file: #"{"journal":""}"#),
        ] {
            let complaint = try await complaint { _ = try await settings.text(.journal) }
            #expect(complaint.hasPrefix("expected a text that is not empty for --journal, STATECAST_JOURNAL"))
        }
    }

    @Test func `an invalid endpoint is named`() async throws {
        let good = try await settings(flags: [.from: .text("tcp://127.0.0.1:7100")])
        #expect(try await good.endpoint(.from) == "tcp://127.0.0.1:7100")
        #expect(try await good.endpoint(.publish) == nil)
        let bad = try await settings(environment: ["STATECAST_FROM": "localhost"])
        let complaint = try await complaint { _ = try await bad.endpoint(.from) }
        #expect(complaint.contains("localhost") && complaint.contains("STATECAST_FROM"))
    }

    @Test func `an invalid choice is refused with the valid words`() async throws {
        #expect(try await settings().choice(.app, default: Colour.green) == .green)
        #expect(try await settings(flags: [.app: .text("red")]).choice(.app, default: Colour.green) == .red)
        let bad = try await settings(flags: [.app: .text("blue")])
        let complaint = try await complaint { _ = try await bad.choice(.app, default: Colour.green) }
        #expect(complaint.hasPrefix("\"blue\" is none of red, green (--app, STATECAST_APP"))
    }

    // MARK: The file

    @Test func `a missing file is named`() async throws {
        let complaint = try await complaint {
            _ = try await Settings(flags: [:], file: folder.missing, environment: [:])
        }
        #expect(complaint.contains(folder.missing) && complaint.contains("does not exist"))
    }

    @Test func `a folder is not a config file`() async throws {
        let complaint = try await complaint { _ = try await Settings(flags: [:], file: folder.path, environment: [:]) }
        #expect(complaint.contains(folder.path) && complaint.contains("cannot be read"))
    }

    @Test(arguments: ["", "{", "store: fleet", "{\n  \"store\" \"fleet\"\n}"])
    func `a file that is not JSON is named, with the line`(text: String) async throws {
        let path = try folder.file(text)
        let complaint = try await complaint { _ = try await Settings(flags: [:], file: path, environment: [:]) }
        #expect(complaint.hasPrefix("the config file \(path) is not JSON: line \(text.contains("\n") ? 2 : 1),"))
    }

    @Test func `a file in UTF-16 is refused`() async throws {
        let path = try folder.file("")
        try #require(#"{"store":"fleet"}"#.data(using: .utf16)).write(to: URL(filePath: path))
        let complaint = try await complaint { _ = try await Settings(flags: [:], file: path, environment: [:]) }
        #expect(complaint.hasPrefix("the config file \(path) is not JSON: line 1, column 1:"), "\(complaint)")
    }

    @Test(arguments: ["[]", "null", #""store""#, "7"])
    func `a file that is not an object is named`(text: String) async throws {
        let path = try folder.file(text)
        let complaint = try await complaint { _ = try await Settings(flags: [:], file: path, environment: [:]) }
        #expect(complaint.hasPrefix("the config file \(path) is not a JSON object"))
    }

    @Test(arguments: ["stor", "Store", "log-level", "STATECAST_STORE", ""])
    func `an unknown key is named, with all valid keys`(key: String) async throws {
        let path = try folder.file(#"{"\#(key)":"fleet"}"#)
        let complaint = try await complaint { _ = try await Settings(flags: [:], file: path, environment: [:]) }
        #expect(complaint.hasPrefix("the config file \(path) has the unknown key \"\(key)\""))
        for known in SettingKey.allCases { #expect(complaint.contains(known.rawValue)) }
        if key == "stor" { #expect(complaint.contains(#"(did you mean "store"?)"#)) }
    }

    @Test(arguments: ["null", "[1]", #"{"name":"fleet"}"#])
    func `an unsuitable value is named with its key`(value: String) async throws {
        let path = try folder.file(#"{"store":\#(value)}"#)
        let complaint = try await complaint { _ = try await Settings(flags: [:], file: path, environment: [:]) }
        #expect(complaint.hasPrefix("the config file \(path) has \(value) for \"store\""))
    }

    @Test func `a file may have every key, also for executables that ignore it`() async throws {
        let members = SettingKey.allCases.map { "\"\($0.rawValue)\":\"x\"" }.joined(separator: ",")
        let settings = try await settings(file: "{\(members)}")
        for key in SettingKey.allCases { #expect(try await settings.text(key) == "x") }
    }
}

@Suite struct SettingKeyTests {
    @Test(arguments: [
        (SettingKey.from, "--from", "STATECAST_FROM"), (.logLevel, "--log-level", "STATECAST_LOG_LEVEL"),
        (.advertiseActions, "--advertise-actions", "STATECAST_ADVERTISE_ACTIONS"),
    ]) func `a key has one name for each source`(key: SettingKey, flag: String, variable: String) {
        #expect(key.flag == flag)
        #expect(key.variable == variable)
        #expect(key.places == "\(flag), \(variable), or \"\(key.rawValue)\" in the config file")
    }

    @Test func `the flags are those that argument-parser derives from the options`() {
        let help = CommonOptions.helpMessage() + UpstreamOptions.helpMessage()
        for key in [SettingKey.logLevel, .from, .store, .insecure] {
            #expect(help.contains(key.flag))
            #expect(help.contains("(\(key.variable)"))
        }
    }

    @Test func `no two keys share a name`() {
        #expect(Set(SettingKey.allCases.map(\.variable)).count == SettingKey.allCases.count)
        #expect(Set(SettingKey.allCases.map(\.flag)).count == SettingKey.allCases.count)
    }
}

/// A folder of its own for each test, removed with the object.
private final class SettingsFolder {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "statecast-settings-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of a missing file.
    var missing: String { folder.appending(path: "missing.json").path }

    var path: String { folder.path }

    /// Writes a config file.
    ///
    /// - Returns: its path.
    func file(_ text: String) throws -> String {
        let url = folder.appending(path: "\(UUID()).json")
        try Data(text.utf8).write(to: url)
        return url.path
    }
}
