// swift-tools-version: 6.2

import PackageDescription

// A user's package without traits. scripts/check-clients builds it, and looks at its dependencies.
let statecast = Context.environment["STATECAST_URL"] ?? "https://example.com/statecast"
let package = Package(
    name: "plain",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: statecast, exact: "0.0.1")],
    targets: [
        .executableTarget(
            name: "Plain",
            dependencies: [.product(name: "Statecast", package: "statecast")],
            swiftSettings: [
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        )
    ]
)
