// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "swift-dialtone",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Dialtone", targets: ["Dialtone"]),
    .library(name: "DialtoneFoundation", targets: ["DialtoneFoundation"]),
    .library(name: "DialtoneTesting", targets: ["DialtoneTesting"]),
    .executable(name: "dialtone", targets: ["DialtoneCLI"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // The libc and the kernel headers, in one place. No logic.
    .target(name: "CNetlink"),
    // The wire format and the socket of rtnetlink. Knows nothing of reachability.
    .target(name: "Netlink", dependencies: ["CNetlink"]),
    // Targets, flags, monitors. No Foundation, no other dependency.
    .target(name: "Dialtone", dependencies: ["CNetlink", "Netlink"]),
    // NotificationCenter and URL: what needs Foundation.
    .target(name: "DialtoneFoundation", dependencies: ["Dialtone"]),
    // A scripted network and clock, for users' own tests.
    .target(name: "DialtoneTesting", dependencies: ["CNetlink", "Dialtone"]),
    // The command `dialtone`.
    .executableTarget(
      name: "DialtoneCLI",
      dependencies: ["CNetlink", "Dialtone", .product(name: "ArgumentParser", package: "swift-argument-parser")]
    ),

    // Samples to read, to run and to copy from.
    .executableTarget(name: "Listening", dependencies: ["Dialtone", "DialtoneFoundation"], path: "Examples/Listening"),
    .executableTarget(name: "SyncWhenBack", dependencies: ["Dialtone"], path: "Examples/SyncWhenBack"),

    // Real network namespaces, and a writer of links, addresses, routes, rules and nexthops, for the tests alone.
    .target(name: "CNetworkLab", path: "Tests/CNetworkLab"),
    .target(name: "NetworkLab", dependencies: ["CNetworkLab"], path: "Tests/NetworkLab"),
    // The program under test of Scripts/radio-lab.
    .executableTarget(name: "radio-probe", dependencies: ["CNetlink", "Dialtone"], path: "Tests/RadioLab/Probe"),
    .testTarget(name: "NetlinkTests", dependencies: ["CNetlink", "Netlink"]),
    // Two libraries that use Dialtone and do not know of each other, for the test that they share one engine.
    .target(name: "FirstLibrary", dependencies: ["Dialtone"], path: "Tests/SharingLibraries/FirstLibrary"),
    .target(name: "SecondLibrary", dependencies: ["Dialtone"], path: "Tests/SharingLibraries/SecondLibrary"),
    .testTarget(
      name: "DialtoneTests",
      dependencies: ["CNetlink", "Dialtone", "DialtoneTesting", "FirstLibrary", "Netlink", "SecondLibrary"]
    ),
    .testTarget(name: "DialtoneFoundationTests", dependencies: ["Dialtone", "DialtoneFoundation", "DialtoneTesting"]),
    .testTarget(name: "LinuxTests", dependencies: ["CNetlink", "CNetworkLab", "Dialtone", "Netlink", "NetworkLab"]),
    .testTarget(
      name: "CLITests",
      dependencies: [
        "CNetlink", "Dialtone", "DialtoneCLI", "NetworkLab",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

#if os(macOS)
package.targets.append(
  .executableTarget(name: "ReachabilityApp", dependencies: ["Dialtone"], path: "Examples/ReachabilityApp"))
#endif

// The same settings for every target of our own.
for target in package.targets {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .enableUpcomingFeature("ExistentialAny"),  // SE-0335
      .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
      .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
      .strictMemorySafety(),  // SE-0458: kernel bytes are untrusted
    ]
  if Context.environment["CI"] != nil {
    // SE-0480: in CI only, so that a newer compiler breaks nobody.
    target.swiftSettings?.append(.treatAllWarnings(as: .error))
  }
  if !target.isTest && target.name != "NetworkLab" {
    // A public type says whether it is Sendable.
    target.swiftSettings?.append(.treatWarning("ExplicitSendable", as: .error))
  }
}
