// swift-tools-version: 6.2

import PackageDescription

// A user's package that enables the trait of @SmartCopy. scripts/check-clients builds and runs it.
let statecast = Context.environment["STATECAST_URL"] ?? "https://example.com/statecast"
let package = Package(
    name: "with-smart-copy",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: statecast, exact: "0.0.1", traits: [.defaults, "SmartCopy"])],
    targets: [
        .executableTarget(
            name: "WithSmartCopy",
            dependencies: [
                .product(name: "StatecastSmartCopy", package: "statecast"),
                .product(name: "StatecastCore", package: "statecast"),
            ]
        )
    ]
)
