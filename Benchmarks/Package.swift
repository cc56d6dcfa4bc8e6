// swift-tools-version: 6.2

import PackageDescription

// A package of its own: whoever depends on Dialtone, or builds it, builds no benchmark.
let package = Package(
  name: "dialtone-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-dialtone", path: "..")
  ],
  targets: [
    // Changes of routes and links over rtnetlink(7), clocks, gates, and peers in C.
    .target(name: "CBenchmark"),
    // What the script `instructions` runs under callgrind.
    .executableTarget(
      name: "Workload", dependencies: ["CBenchmark", .product(name: "Dialtone", package: "swift-dialtone")]),
    // One watcher of the default route: what the other scripts start, stop and measure.
    .executableTarget(
      name: "Peer", dependencies: ["CBenchmark", .product(name: "Dialtone", package: "swift-dialtone")]),
    // Makes changes, and measures watchers: latency, start, cost as the work grows.
    .executableTarget(name: "Measure", dependencies: ["CBenchmark"]),
    // What a synchronous question costs, beside the kernel's part of it.
    .executableTarget(
      name: "Questions", dependencies: ["CBenchmark", .product(name: "Dialtone", package: "swift-dialtone")]),
    // What the script `sites` times.
    .executableTarget(
      name: "SiteChecks", dependencies: [.product(name: "DialtoneSites", package: "swift-dialtone")]),
    // What the script `endurance` runs for long.
    .executableTarget(
      name: "Endurance",
      dependencies: [
        "CBenchmark", .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneSites", package: "swift-dialtone"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .strictMemorySafety(),  // SE-0458
  ]
  if Context.environment["DIALTONE_STRICT"] != nil { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
