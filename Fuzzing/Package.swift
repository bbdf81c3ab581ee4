// swift-tools-version: 6.2

import PackageDescription

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

/// A fuzzer's `Laws` and `Support` are links to those of the main package's tests, which check the same laws when they
/// replay the corpus.
func fuzzer(_ name: String, of products: [String]) -> Target {
    .executableTarget(
        name: name,
        dependencies: products.map { .product(name: $0, package: "statecast") },
        swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
    )
}

// A package of its own: it builds only with `--sanitize=fuzzer`, which provides the `main` of the executables.
let package = Package(
    name: "statecast-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "statecast", path: "..")],
    targets: [
        fuzzer("FuzzDecoder", of: ["StatecastCoding", "StatecastJSON"]),
        fuzzer("FuzzApply", of: ["StatecastCoding", "StatecastJSON"]),
        fuzzer("FuzzJSON", of: ["StatecastCoding", "StatecastJSON"]),
        // Neither the protocol nor the readers of files are public: these see it as a test does (STATECAST_TESTABLE).
        fuzzer("FuzzFrame", of: ["StatecastCoding", "StatecastCore", "StatecastJournal"]),
        fuzzer("FuzzRecord", of: ["StatecastCoding", "StatecastCore", "StatecastJournal"]),
        fuzzer("FuzzPeer", of: ["StatecastCoding", "StatecastCore", "StatecastJournal"]),
        fuzzer("FuzzStore", of: ["StatecastCoding", "StatecastCore", "StatecastJournal"]),
        fuzzer("FuzzAccess", of: ["StatecastCoding", "StatecastCore", "StatecastJournal", "Statecast"]),
    ]
)
