// swift-tools-version: 6.2

import PackageDescription

// Apart from the main package, so that nobody who builds Statecast has to build a benchmark framework.
let package = Package(
    name: "statecast-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "statecast", path: ".."),
        // Without its traits it counts no allocations, and needs no allocator of its own.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "CoreBenchmarks",
            dependencies: [
                .product(name: "StateCore", package: "statecast"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Core",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"),
                .enableUpcomingFeature("ImmutableWeakCaptures"),
            ],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        )
    ]
)
