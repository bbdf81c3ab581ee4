// swift-tools-version: 6.2

import PackageDescription

/// As in the main package.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let core = Target.Dependency.product(name: "StatecastCore", package: "statecast")
let coding = Target.Dependency.product(name: "StatecastCoding", package: "statecast")
let framework = Target.Dependency.product(name: "Benchmark", package: "benchmark")
let plugin = Target.PluginUsage.plugin(name: "BenchmarkPlugin", package: "benchmark")

// A package of its own, so that Statecast does not depend on a benchmark framework.
let package = Package(
    name: "statecast-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "statecast", path: ".."),
        // Without its traits it counts no allocations: counting would add a header to each.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "Measuring", swiftSettings: settings),
        .target(name: "Comparing", dependencies: ["Measuring", framework], swiftSettings: settings),
        .executableTarget(
            name: "CoreBenchmarks",
            dependencies: ["Comparing", "Measuring", core, framework],
            path: "Benchmarks/Core",
            swiftSettings: settings,
            plugins: [plugin]
        ),
        .target(name: "CodingSubjects", dependencies: [coding], swiftSettings: settings),
        .executableTarget(
            name: "CodingBenchmarks",
            dependencies: ["CodingSubjects", "Comparing", "Measuring", coding, framework],
            path: "Benchmarks/Coding",
            swiftSettings: settings,
            plugins: [plugin]
        ),
        // Each run is a process, so that no measurement affects the next one.
        .executableTarget(
            name: "coding-memory",
            dependencies: ["CodingSubjects", "Measuring", coding],
            swiftSettings: settings
        ),
        // Replaces the allocator's entry points, so no timed executable links it.
        .target(name: "MallocCounter"),
        .executableTarget(
            name: "coding-allocations",
            dependencies: ["CodingSubjects", "MallocCounter", coding],
            swiftSettings: settings
        ),
    ]
)
