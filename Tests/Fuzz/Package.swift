// swift-tools-version: 6.2

import PackageDescription

// A package of its own, as its program has no main: libFuzzer brings it. `Scripts/fuzz` builds and runs it.
let package = Package(
  name: "dialtone-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-dialtone", path: "../.."),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // It reads what is internal, by @testable, and so a module that is no product: CDialtoneSystem, too.
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "Dialtone", package: "swift-dialtone"),
        .product(name: "DialtoneDiagnosis", package: "swift-dialtone"),
        .product(name: "DialtoneSites", package: "swift-dialtone"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      path: ".", exclude: ["Corpus"],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
        .strictMemorySafety(),  // SE-0458
        .unsafeFlags(["-parse-as-library"]),
      ])
  ],
  swiftLanguageModes: [.v6]
)
