// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

/// `STATECAST_TESTABLE=1`: tests see internal symbols in release builds, too.
let isTestable = Context.environment["STATECAST_TESTABLE"] != nil

/// `STATECAST_WARNINGS_AS_ERRORS=1`: warnings are errors, as in the scripts that check a change. Not in the builds of
/// users: newer compilers have further warnings, and a newer build system refuses the setting for a dependency, whose
/// warnings it suppresses.
let areWarningsErrors = Context.environment["STATECAST_WARNINGS_AS_ERRORS"] != nil

/// The settings of every target.
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
    ] + (areWarningsErrors ? [.treatAllWarnings(as: .error)] : [])
    + (isTestable ? [.unsafeFlags(["-enable-testing"])] : [])

/// For tests whose own code crashes the optimizer of Swift 6.3 in release ("While splitting coroutine", an async
/// closure that is passed to a helper). The code under test is optimized nevertheless.
let settingsOfUnoptimizedTests = settings + (isTestable ? [.unsafeFlags(["-Onone"])] : [])

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let metricsTesting = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let ordered = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")

/// A dependency of `StatecastTesting` alone: a package that turns the default traits off does not fetch it.
func inTests(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Testing"]))
}

/// A dependency of the HTTP server alone.
func inHTTP(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-nio", condition: .when(traits: ["HTTP"]))
}

/// swift-syntax needs minutes to build: SwiftPM fetches it only if the trait `SmartCopy` is enabled.
func syntax(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-syntax", condition: .when(traits: ["SmartCopy"]))
}

// Debian's libzmq.pc names an include path of a private requirement in a form that SwiftPM warns about at each build.
// On Debian the compiler finds the header and the library without it; Homebrew's are elsewhere.
// SQLite is part of macOS.
#if os(macOS)
    let libzmqPackage: String? = "libzmq"
    let sodiumPackage: String? = "libsodium"
    let sqlitePackage: String? = nil
#else
    let libzmqPackage: String? = nil
    let sodiumPackage: String? = nil
    let sqlitePackage: String? = "sqlite3"
#endif

/// One row per module, from the pure core outwards: each module imports only modules that are listed before it.
let layers: [Target] = [
    .systemLibrary(name: "CStatecastPlatform"),
    .target(name: "StatecastThreading", dependencies: ["CStatecastPlatform", deque], swiftSettings: settings),
    .target(name: "StatecastFiles", swiftSettings: settings),
    .target(name: "StatecastCore", dependencies: ["StatecastThreading"], swiftSettings: settings),
    .target(name: "StatecastCoding", swiftSettings: settings),
    .target(name: "StatecastTerminal", swiftSettings: settings),
    .target(name: "StatecastJSON", dependencies: ["StatecastCoding"], swiftSettings: settings),
    .systemLibrary(
        name: "CStatecastSodium",
        pkgConfig: sodiumPackage,
        providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]
    ),
    .target(name: "StatecastCryptography", dependencies: ["CStatecastSodium"], swiftSettings: settings),
    .target(
        name: "StatecastProtocol",
        dependencies: ["StatecastCryptography", "StatecastCore", "StatecastCoding", deque, ordered],
        swiftSettings: settings
    ),
    .systemLibrary(
        name: "CStatecastZeroMQ",
        pkgConfig: libzmqPackage,
        providers: [.apt(["libzmq3-dev"]), .brew(["zeromq"])]
    ),
    .target(
        name: "StatecastZeroMQ",
        dependencies: ["StatecastThreading", "StatecastFiles", "StatecastCryptography", "CStatecastZeroMQ"],
        swiftSettings: settings
    ),
    .target(name: "CStatecastChecksum"),
    .target(
        name: "StatecastJournal",
        dependencies: [
            "StatecastThreading", "StatecastCore", "StatecastCoding", "StatecastProtocol", "CStatecastChecksum",
        ],
        swiftSettings: settings
    ),
    .systemLibrary(
        name: "CStatecastSQLite",
        pkgConfig: sqlitePackage,
        providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
    ),
    .target(
        name: "StatecastSQLite",
        dependencies: [
            "StatecastThreading", "StatecastFiles", "StatecastCore", "StatecastCoding", "StatecastJournal",
            "StatecastProtocol", "CStatecastSQLite",
        ],
        swiftSettings: settings
    ),
    .systemLibrary(
        name: "CStatecastPostgres",
        pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
    ),
    .target(
        name: "StatecastPostgres",
        dependencies: [
            "StatecastThreading", "StatecastFiles", "StatecastCore", "StatecastJournal", "StatecastProtocol",
            "CStatecastPostgres",
        ],
        swiftSettings: settings
    ),
    .target(
        name: "Statecast",
        dependencies: [
            "CStatecastPlatform", "StatecastThreading", "StatecastFiles", "StatecastCryptography", "StatecastCore",
            "StatecastCoding", "StatecastProtocol",
            "StatecastZeroMQ", "StatecastJournal", deque, logging, metrics, lifecycle, signals,
        ],
        swiftSettings: settings
    ),
]

/// What operators and browsers see of a process. Without the trait `HTTP` both modules compile without a server.
let monitoring: [Target] = [
    .target(
        name: "StatecastHTTP",
        dependencies: [inHTTP("NIOCore"), inHTTP("NIOHTTP1"), inHTTP("NIOPosix")],
        swiftSettings: settings
    ),
    .target(
        name: "StatecastMonitoring",
        dependencies: [
            "CStatecastPlatform", "StatecastThreading", "StatecastProtocol", "StatecastCoding", "StatecastJSON",
            "Statecast", "StatecastHTTP", inHTTP("NIOCore"), inHTTP("NIOHTTP1"), coreMetrics, logging, lifecycle,
        ],
        swiftSettings: settings
    ),
]

/// What browsers see of stores, and send to them.
let gateway: [Target] = [
    .target(
        name: "StatecastGateway",
        dependencies: [
            "CStatecastPlatform", "StatecastThreading", "StatecastCryptography", "StatecastProtocol", "StatecastCoding",
            "StatecastJSON", "StatecastJournal", "StatecastSQLite", "Statecast", "StatecastHTTP", inHTTP("NIOCore"),
            inHTTP("NIOHTTP1"), deque, logging, lifecycle,
        ],
        swiftSettings: settings
    )
]

/// A whole cluster in one thread.
let simulation: [Target] = [
    .target(
        name: "StatecastSimulation",
        dependencies: [
            "StatecastThreading", "StatecastCore", "StatecastCoding", "StatecastProtocol", "StatecastJournal",
            "Statecast", deque, heap, logging,
        ],
        swiftSettings: settings
    ),
    .executableTarget(
        name: "statecast-simulate",
        dependencies: ["StatecastSimulation", "StatecastProtocol", "StatecastCommandLine", argumentParser],
        swiftSettings: settings
    ),
]

/// The library for tests of users.
let testing: [Target] = [
    .target(
        name: "StatecastTesting",
        dependencies: [
            "StatecastCore", "StatecastCoding", "StatecastProtocol", "StatecastJournal", "StatecastThreading",
            inTests("CustomDump", "swift-custom-dump"),
            inTests("IssueReporting", "xctest-dynamic-overlay"),
            inTests("IssueReportingTestSupport", "xctest-dynamic-overlay"),
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastTestingTests",
        dependencies: [
            "StatecastTesting", "StatecastCore", "StatecastCoding", "StatecastProtocol", "StatecastJournal",
            "CounterApp", "FleetApp",
        ],
        swiftSettings: settings
    ),
]

/// The code blocks of docs/TUTORIAL.md.
let tutorial = Target.testTarget(
    name: "TutorialTests",
    dependencies: ["Statecast", "StatecastCore", "StatecastCoding", "StatecastJSON", "StatecastTesting"],
    swiftSettings: settings
)

/// The macro. Without the trait `SmartCopy`, both modules compile without it.
let macros: [Target] = [
    .macro(
        name: "StatecastSmartCopyMacros",
        dependencies: [
            syntax("SwiftCompilerPlugin"), syntax("SwiftDiagnostics"), syntax("SwiftSyntax"),
            syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"),
        ],
        swiftSettings: settings
    ),
    .target(name: "StatecastSmartCopy", dependencies: ["StatecastSmartCopyMacros"], swiftSettings: settings),
]

/// The macro's tests need the trait. They exist only if `STATECAST_TARGETS` names them: SwiftPM builds a test bundle
/// for the host if one of its targets depends on a macro itself, and would compile every module twice.
let testsOfMacros: [Target] = [
    .testTarget(name: "StatecastSmartCopyTests", dependencies: ["StatecastSmartCopy"], swiftSettings: settings),
    .testTarget(
        name: "StatecastSmartCopyMacrosTests",
        dependencies: [
            "StatecastSmartCopyMacros", syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"),
            syntax("SwiftSyntaxMacroExpansion"),
            syntax("SwiftSyntaxMacrosGenericTestSupport"),
        ],
        swiftSettings: settings
    ),
]

/// The examples: no products. Each app is a module, which statecast-primary and the tests share.
let examples: [Target] = [
    .executableTarget(
        name: "counter-example",
        dependencies: ["Statecast"],
        path: "Examples/Counter",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "counter-service",
        dependencies: ["Statecast", "StatecastSQLite"],
        path: "Examples/CounterService",
        swiftSettings: settings
    ),
    .target(name: "CounterApp", dependencies: ["StatecastCore"], path: "Examples/CounterApp", swiftSettings: settings),
    .target(
        name: "FleetApp",
        dependencies: ["StatecastTerminal", "StatecastCore", "StatecastCoding"],
        path: "Examples/FleetApp",
        swiftSettings: settings
    ),
    .target(
        name: "HostSampling",
        dependencies: ["FleetApp"],
        path: "Examples/HostSampling",
        swiftSettings: settings
    ),
]

let executables: [Target] = [
    .target(
        name: "StatecastCommandLine",
        dependencies: [
            "CStatecastPlatform", "StatecastThreading", "StatecastFiles", "StatecastTerminal", "Statecast",
            "StatecastCoding", "StatecastJSON",
            "StatecastProtocol", "StatecastJournal", "StatecastMonitoring",
            argumentParser, logging, lifecycle, configuration, coreMetrics,
        ],
        swiftSettings: settings
    ),
    .target(
        name: "StatecastCommands",
        dependencies: [
            "StatecastCommandLine", "CounterApp", "FleetApp", "HostSampling", "StatecastTerminal", "StatecastCoding",
            "StatecastJSON", "StatecastProtocol", "Statecast", "StatecastJournal", "StatecastSQLite",
            "StatecastPostgres", "StatecastGateway", "StatecastCryptography", "StatecastFiles", argumentParser, logging,
            lifecycle,
        ],
        swiftSettings: settings
    ),
    // Its product is `statecast`: a module of that name would be taken for the library's where letters have no case.
    .executableTarget(name: "statecast-command", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(name: "statecast-primary", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(name: "statecast-replica", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(name: "statecast-send", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(name: "statecast-journal", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(name: "statecast-keys", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(name: "statecast-gateway", dependencies: ["StatecastCommands"], swiftSettings: settings),
    .executableTarget(
        name: "fleet-agent",
        dependencies: ["StatecastCommands"],
        path: "Examples/FleetAgent",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "statecast-crash-test",
        dependencies: [
            "StatecastThreading", "Statecast", "StatecastCore", "CounterApp", "FleetApp", "StatecastJournal",
            "StatecastSQLite", "StatecastPostgres", "StatecastCoding", "StatecastProtocol", argumentParser,
            // The executables that it runs.
            "statecast-primary", "statecast-replica", "statecast-send",
        ],
        path: "Sources/CrashTest",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "statecast-hostile-test",
        dependencies: [
            "StatecastThreading", "Statecast", "StatecastCore", "StatecastCoding", "StatecastProtocol",
            "StatecastZeroMQ", "FleetApp", "StatecastJournal",
            "StatecastSQLite", argumentParser,
            // The executable that it runs.
            "statecast-primary",
        ],
        path: "Sources/HostileTest",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "statecast-bench",
        dependencies: [
            "StatecastThreading", "StatecastCore", "StatecastCoding", "Statecast", "StatecastJournal",
            "StatecastSQLite", "StatecastPostgres", "CStatecastPostgres", "StatecastProtocol", "StatecastZeroMQ",
            argumentParser,
        ],
        path: "Sources/Benchmarks",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "statecast-instructions",
        dependencies: [
            "StatecastThreading", "StatecastCore", "StatecastCoding", "StatecastProtocol", "Statecast",
            "StatecastJournal", "StatecastSQLite", "StatecastMonitoring",
            argumentParser, coreMetrics,
        ],
        path: "Sources/Instructions",
        swiftSettings: settings
    ),
]

let tests: [Target] = [
    .testTarget(
        name: "StatecastCoreTests",
        dependencies: ["StatecastCore", "StatecastThreading"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastCodingTests",
        dependencies: ["StatecastCoding", "StatecastJSON"],
        // Tests read these files in place.
        exclude: ["CBOR/Fixtures", "Hostile/Corpus"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastJSONTests",
        dependencies: ["StatecastJSON", "StatecastCoding"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastProtocolTests",
        dependencies: ["StatecastProtocol", "StatecastCore", "StatecastCoding", "StatecastJSON", "StatecastJournal"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastJournalTests",
        dependencies: [
            "StatecastJournal", "StatecastSQLite", "StatecastProtocol", "StatecastCore", "StatecastCoding",
            "StatecastTesting", "StatecastThreading",
            "Statecast", "CounterApp", "CStatecastSQLite", logging,
        ],
        // Tests read these files in place.
        exclude: ["Golden"],
        swiftSettings: settings
    ),
    .target(name: "PostgresCluster", path: "Tests/PostgresCluster", swiftSettings: settings),
    .testTarget(
        name: "StatecastPostgresTests",
        dependencies: [
            "PostgresCluster", "StatecastPostgres", "Statecast", "StatecastJournal", "StatecastProtocol",
            "StatecastCore",
            "CounterApp",
        ],
        swiftSettings: settings
    ),
    .testTarget(name: "StatecastCryptographyTests", dependencies: ["StatecastCryptography"], swiftSettings: settings),
    .testTarget(
        name: "StatecastZeroMQTests",
        dependencies: ["StatecastZeroMQ", "StatecastThreading"],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastTests",
        dependencies: [
            "StatecastThreading", "Statecast", "StatecastCore", "StatecastCoding", "StatecastProtocol",
            "CStatecastZeroMQ", "StatecastZeroMQ", "StatecastJournal",
            "StatecastSQLite", "CounterApp", "FleetApp", metricsTesting, coreMetrics,
        ],
        // Tests read these files in place.
        exclude: ["Session/Golden"],
        swiftSettings: settingsOfUnoptimizedTests
    ),
    .testTarget(
        name: "StatecastMonitoringTests",
        dependencies: [
            "StatecastMonitoring", "Statecast", "StatecastThreading", "StatecastCoding", "StatecastJSON",
            "StatecastProtocol", coreMetrics,
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastGatewayTests",
        dependencies: [
            "StatecastGateway", "StatecastThreading", "StatecastProtocol", "StatecastCoding", "StatecastJSON",
            "StatecastJournal", "StatecastSQLite", "Statecast", "StatecastCore", "FleetApp", logging,
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastSimulationTests",
        dependencies: [
            "StatecastThreading", "StatecastSimulation", "Statecast", "StatecastProtocol", "StatecastCore",
            "StatecastCoding", "StatecastJournal",
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "StatecastCommandLineTests",
        dependencies: [
            "StatecastCommandLine", "StatecastTerminal", "Statecast", "StatecastCoding", "StatecastJSON",
            "StatecastProtocol", logging,
            argumentParser, lifecycle,
        ],
        swiftSettings: settings
    ),
    .executableTarget(
        name: "http-probe-server",
        dependencies: ["StatecastHTTP", inHTTP("NIOCore"), inHTTP("NIOHTTP1"), signals],
        path: "Tests/HTTPProbeServer",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "poison-primary",
        dependencies: ["Statecast", "StatecastSQLite"],
        path: "Tests/PoisonPrimary",
        swiftSettings: settings
    ),
    .executableTarget(
        name: "wide-primary",
        dependencies: ["Statecast", "StatecastSQLite"],
        path: "Tests/WidePrimary",
        swiftSettings: settings
    ),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "statecast-primary", "poison-primary", "statecast-crash-test", "statecast-replica", "statecast-send",
            "statecast-journal", "statecast-keys", "statecast-command", "statecast-simulate", "fleet-agent",
            "counter-example", "counter-service",
            "Statecast",
            "StatecastProtocol", "PostgresCluster", subprocess,
        ],
        swiftSettings: settings
    ),
    .testTarget(
        name: "AppsTests",
        dependencies: ["CounterApp", "FleetApp", "HostSampling", "StatecastCore", "StatecastCoding"],
        swiftSettings: settings
    ),
]

/// The targets of a list (separated by commas) and their dependencies.
func chosen(from known: [Target], by list: String) -> [Target] {
    var open = list.split(separator: ",").map(String.init)
    var names: Set<String> = []
    while let name = open.popLast() {
        guard let target = known.first(where: { $0.name == name }) else {
            fatalError("STATECAST_TARGETS: there is no target \(name)")
        }
        guard names.insert(name).inserted else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
    }
    return known.filter { names.contains($0.name) }
}

/// All targets but the macro's tests, or those that `STATECAST_TARGETS` lists. Scripts build parts of the package this
/// way, such as with a sanitizer. A name that no target has is an error.
let all = layers + monitoring + gateway + simulation + testing + macros + examples + executables + tests + [tutorial]
let targets = Context.environment["STATECAST_TARGETS"].map { chosen(from: all + testsOfMacros, by: $0) } ?? all

let package = Package(
    name: "statecast",
    platforms: [
        .macOS(.v15), .iOS(.v18), .macCatalyst(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2),
    ],
    products: ([
        .library(name: "Statecast", targets: ["Statecast"]),
        .library(name: "StatecastSQLite", targets: ["StatecastSQLite"]),
        .library(name: "StatecastPostgres", targets: ["StatecastPostgres"]),
        // For journals of users.
        .library(name: "StatecastJournal", targets: ["StatecastJournal", "StatecastProtocol"]),
        .library(name: "StatecastCore", targets: ["StatecastCore"]),
        .library(name: "StatecastCoding", targets: ["StatecastCoding"]),
        .library(name: "StatecastMonitoring", targets: ["StatecastMonitoring"]),
        .library(name: "StatecastGateway", targets: ["StatecastGateway"]),
        .library(name: "StatecastJSON", targets: ["StatecastJSON"]),
        .library(name: "StatecastTesting", targets: ["StatecastTesting"]),
        .library(name: "StatecastSmartCopy", targets: ["StatecastSmartCopy"]),
        .executable(name: "statecast", targets: ["statecast-command"]),
        .executable(name: "statecast-primary", targets: ["statecast-primary"]),
        .executable(name: "statecast-replica", targets: ["statecast-replica"]),
        .executable(name: "statecast-send", targets: ["statecast-send"]),
        .executable(name: "statecast-journal", targets: ["statecast-journal"]),
        .executable(name: "statecast-keys", targets: ["statecast-keys"]),
        .executable(name: "statecast-gateway", targets: ["statecast-gateway"]),
    ] as [Product]).filter { product in
        targets.contains { [product.name, "\(product.name)-command"].contains($0.name) }
    },
    traits: [
        .trait(
            name: "SmartCopy",
            description: "The macro @SmartCopy. It needs swift-syntax, which needs minutes to build."
        ),
        .trait(name: "HTTP", description: "The HTTP server of StatecastMonitoring, which needs swift-nio."),
        .trait(name: "Testing", description: "The product StatecastTesting, which needs two packages more."),
        .default(enabledTraits: ["HTTP", "Testing"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.0"),
        .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: targets
)
