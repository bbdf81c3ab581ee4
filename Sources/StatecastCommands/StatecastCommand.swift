package import ArgumentParser
import Statecast
import StatecastCommandLine

/// All commands in one executable: `statecast primary` is `statecast-primary`.
package struct StatecastCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast",
        abstract: "Owns, follows and changes distributed state.",
        discussion: """
            Through a link by the name of a command, such as statecast-primary, this executable is that command.
            """,
        version: Release.line(of: "statecast"),
        subcommands: linked.map { subcommand($0) } + [TopCommand.self]
    )

    /// The commands with an executable, or a link, of their own.
    private static let linked: [any AsyncParsableCommand.Type] = [
        PrimaryCommand.self, ReplicaCommand.self, SendCommand.self, JournalCommand.self, KeysCommand.self,
        AgentCommand.self, GatewayCommand.self,
    ]

    private static func subcommand<Command: AsyncParsableCommand>(_: Command.Type) -> any ParsableCommand.Type {
        Subcommand<Command>.self
    }

    package init() {}

    /// Runs the command that has the name by which the process was started, or else this one.
    package static func executeAsInvoked() async {
        let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
        let command = linked.first { $0.configuration.commandName == name }
        await (command ?? Self.self).execute()
    }
}

/// A command with an executable of its own, as a subcommand of `statecast`.
private struct Subcommand<Command: AsyncParsableCommand>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        var configuration = Command.configuration
        let prefix = "statecast-"
        if let name = configuration.commandName, name.hasPrefix(prefix) {
            configuration.commandName = String(name.dropFirst(prefix.count))
        }
        return configuration
    }

    @OptionGroup var command: Command

    @concurrent mutating func run() async throws {
        guard Self.configuration.subcommands.isEmpty else { throw CleanExit.helpRequest(self) }
        try await command.run()
    }
}

extension AsyncParsableCommand {
    /// Runs the command with the arguments of the process.
    package static func execute() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let message = message(forUnknown: arguments[...]) { exit(withError: ValidationError(message)) }
        await main(arguments)
    }
}

extension ParsableCommand {
    /// The message for a word that is no subcommand, which argument-parser reports only as an unexpected argument.
    fileprivate static func message(forUnknown words: ArraySlice<String>) -> String? {
        let commands = configuration.subcommands
        guard !commands.isEmpty, let word = words.first, !word.hasPrefix("-"), word != "help" else { return nil }
        if let command = commands.first(where: { $0.configuration.commandName == word }) {
            return command.message(forUnknown: words.dropFirst())
        }
        let known = commands.compactMap { $0.configuration.commandName }
        let hint =
            word.nearest(among: known).map { "did you mean \($0)?" } ?? "there are \(known.joined(separator: ", "))."
        return "There is no subcommand \"\(VisibleText.line(word))\": \(hint)"
    }
}
