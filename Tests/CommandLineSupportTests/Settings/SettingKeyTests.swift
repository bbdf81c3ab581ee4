import ArgumentParser
import Testing

@testable import CommandLineSupport

@Suite struct SettingKeyTests {
    @Test(arguments: [
        (SettingKey.from, "--from", "STATECAST_FROM"), (.logLevel, "--log-level", "STATECAST_LOG_LEVEL"),
        (.advertiseActions, "--advertise-actions", "STATECAST_ADVERTISE_ACTIONS"),
    ]) func `a key has one name for each place`(key: SettingKey, flag: String, variable: String) {
        #expect(key.flag == flag)
        #expect(key.variable == variable)
        #expect(key.places == "\(flag), \(variable), or \"\(key.rawValue)\" in the config file")
    }

    @Test func `the flags are those that argument-parser makes of the options`() {
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
