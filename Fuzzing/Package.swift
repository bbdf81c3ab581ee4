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
func fuzzer(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            .product(name: "StateCoding", package: "statecast"), .product(name: "StateJSON", package: "statecast"),
        ],
        swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
    )
}

// A package of its own: it builds only with `--sanitize=fuzzer`, which provides the `main` of the executables.
let package = Package(
    name: "statecast-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "statecast", path: "..")],
    targets: [fuzzer("FuzzDecoder"), fuzzer("FuzzApply"), fuzzer("FuzzJSON")]
)
