// swift-tools-version: 6.2

import PackageDescription

/// Whether another package has fetched this one: SwiftPM and Xcode keep what they fetch in folders of these names.
/// They do not say so of a package that is used by its path.
let isFetched = ["/checkouts/", "/registry/downloads/"].contains { Context.packageDirectory.contains($0) }

let package = Package(
  name: "swift-dialtone",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Dialtone", targets: ["Dialtone"]),
    .library(name: "DialtoneFoundation", targets: ["DialtoneFoundation"]),
    .library(name: "DialtoneNetwork", targets: ["DialtoneNetwork"]),
    .library(name: "DialtoneSystemConfiguration", targets: ["DialtoneSystemConfiguration"]),
    .library(name: "DialtoneSites", targets: ["DialtoneSites"]),
    .library(name: "DialtoneTesting", targets: ["DialtoneTesting"]),
    .library(name: "DialtoneSitesTesting", targets: ["DialtoneSitesTesting"]),
    .executable(name: "dialtone", targets: ["DialtoneCLI"]),
  ],
  // What brings other packages along. A clone has all of it, a package that depends on this one what it asks for.
  traits: [
    .default(enabledTraits: isFetched ? [] : ["Command"]),
    .trait(name: "Sites", description: "Checks and monitors of sites: DialtoneSites, on swift-nio."),
    .trait(name: "Command", description: "The command dialtone.", enabledTraits: ["Sites"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    // For the tests alone, which make certificates: whoever depends on this package does not fetch them.
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    // The libc and the kernel headers, in one place. No logic.
    .target(name: "CDialtoneSystem"),
    // The wire format and the socket of rtnetlink. Knows nothing of reachability.
    .target(name: "Netlink", dependencies: ["CDialtoneSystem"]),
    // Targets, flags, monitors. No Foundation, no other dependency.
    .target(name: "Dialtone", dependencies: ["CDialtoneSystem", "Netlink"]),
    // NotificationCenter and URL: what needs Foundation.
    .target(name: "DialtoneFoundation", dependencies: ["Dialtone"]),
    // Apple's Network, as far as it is about paths; on Apple's platforms, Network itself.
    .target(name: "DialtoneNetwork", dependencies: ["Dialtone", "Netlink"]),
    // Apple's SCNetworkReachability; on Apple's platforms, SystemConfiguration itself.
    .target(
      name: "DialtoneSystemConfiguration",
      dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneFoundation"]),
    // Whether a site really answers: checks over HTTP. No Foundation.
    .target(
      name: "DialtoneSites",
      dependencies: [
        "CDialtoneSystem", "Dialtone", "Netlink", "SitesTrait",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]
    ),
    // Says which trait is missing, where it is. Nothing else.
    .target(name: "SitesTrait"),
    // A scripted network and clock, for users' own tests.
    .target(name: "DialtoneTesting", dependencies: ["CDialtoneSystem", "Dialtone"]),
    // Scripted sites, for the tests of those who check sites. Apart, since it brings swift-nio.
    .target(
      name: "DialtoneSitesTesting", dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneSites", "DialtoneTesting"]),
    // What the command needs of libc and the kernel beyond the library. No logic.
    .target(name: "CDialtoneCommand"),
    // The command `dialtone`.
    .executableTarget(
      name: "DialtoneCLI",
      dependencies: [
        "CDialtoneCommand", "CDialtoneSystem", "Dialtone", "DialtoneSites", "Netlink",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),

    // Samples to read, to run and to copy from.
    .executableTarget(name: "Listening", dependencies: ["Dialtone", "DialtoneFoundation"], path: "Examples/Listening"),
    .executableTarget(name: "SyncWhenBack", dependencies: ["Dialtone"], path: "Examples/SyncWhenBack"),
    .executableTarget(name: "BackupOffCellular", dependencies: ["Dialtone"], path: "Examples/BackupOffCellular"),
    .executableTarget(name: "SiteStatus", dependencies: ["Dialtone", "DialtoneSites"], path: "Examples/SiteStatus"),

    // Waiting for what must come, repeatable random numbers, what a process holds: for all tests.
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    .target(name: "TestSupport", dependencies: ["CTestSupport", "Dialtone"], path: "Tests/TestSupport"),
    // Real network namespaces, and a writer of links, addresses, routes, rules and nexthops, for the tests alone.
    .target(name: "CNetworkLab", path: "Tests/CNetworkLab"),
    .target(name: "NetworkLab", dependencies: ["CNetworkLab"], path: "Tests/NetworkLab"),
    // What messages are built of that Dialtone reads and never sends.
    .target(
      name: "MessageBuilding", dependencies: ["CDialtoneSystem", "Netlink"], path: "Tests/MessageBuilding"),
    // Servers for trials of site checks, honest and hostile, and their certificates, for the tests alone.
    .target(
      name: "SiteLab",
      dependencies: [
        "CNetworkLab", "NetworkLab", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "_CryptoExtras", package: "swift-crypto"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      path: "Tests/SiteLab"
    ),
    // The program under test of Scripts/radio-lab.
    .executableTarget(
      name: "radio-probe", dependencies: ["CDialtoneSystem", "Dialtone"], path: "Tests/RadioLab/Probe"),
    // The definitions of the kernel that are used where its headers are not installed, beside these headers.
    .target(name: "CKernelDefinitions", path: "Tests/CKernelDefinitions", exclude: ["list.inc"]),
    .testTarget(
      name: "NetlinkTests",
      dependencies: ["CDialtoneSystem", "CKernelDefinitions", "MessageBuilding", "Netlink", "TestSupport"]),
    // Two libraries that use Dialtone and do not know of each other, for the test that they share one engine.
    .target(name: "FirstLibrary", dependencies: ["Dialtone"], path: "Tests/SharingLibraries/FirstLibrary"),
    .target(name: "SecondLibrary", dependencies: ["Dialtone"], path: "Tests/SharingLibraries/SecondLibrary"),
    .testTarget(
      name: "DialtoneTests",
      dependencies: [
        "CDialtoneSystem", "CTestSupport", "Dialtone", "DialtoneTesting", "FirstLibrary", "Netlink", "SecondLibrary",
        "TestSupport",
      ]
    ),
    .testTarget(
      name: "DialtoneFoundationTests",
      dependencies: ["Dialtone", "DialtoneFoundation", "DialtoneTesting", "TestSupport"]),
    .testTarget(
      name: "LinuxTests",
      dependencies: [
        "CDialtoneSystem", "CNetworkLab", "Dialtone", "MessageBuilding", "Netlink", "NetworkLab", "TestSupport",
      ]),
    // Source as programs for Apple's platforms have it, in both language modes: the folder of the second leads to the
    // first's.
    .target(
      name: "AppleWrappers", dependencies: ["DialtoneNetwork", "DialtoneSystemConfiguration"],
      path: "Tests/AppleWrappers"),
    .target(
      name: "AppleWrappers5", dependencies: ["DialtoneNetwork", "DialtoneSystemConfiguration"],
      path: "Tests/AppleWrappers5", swiftSettings: [.swiftLanguageMode(.v5)]),
    // The source for Apple's platforms, the same files, over the modules above instead of Apple's frameworks.
    .target(
      name: "AppleSource",
      dependencies: ["CDialtoneSystem", "Dialtone", "DialtoneNetwork", "DialtoneSystemConfiguration", "Netlink"],
      path: "Tests/AppleSource", swiftSettings: [.define("DIALTONE_APPLE_SOURCE")]),
    .testTarget(
      name: "AppleTests",
      dependencies: [
        "AppleSource", "AppleWrappers", "AppleWrappers5", "Dialtone", "DialtoneNetwork", "DialtoneSystemConfiguration",
        "NetworkLab",
        "TestSupport",
      ]
    ),
    .testTarget(
      name: "SitesTests",
      dependencies: [
        "CTestSupport", "Dialtone", "DialtoneSites", "DialtoneSitesTesting", "DialtoneTesting", "Netlink",
        "NetworkLab", "SiteLab", "TestSupport",
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]
    ),
    .testTarget(
      name: "CLITests",
      dependencies: [
        "BackupOffCellular", "CDialtoneSystem", "Dialtone", "DialtoneCLI", "DialtoneSites", "Listening", "NetworkLab",
        "SiteLab",
        "SiteStatus", "SyncWhenBack", "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

// Which trait a package is fetched for.
for target in package.targets {
  target.dependencies = target.dependencies.map { dependency in
    guard case .productItem(let name, let package?, let aliases, _) = dependency else { return dependency }
    let isOfCommand = ["swift-argument-parser", "swift-subprocess", "swift-system"].contains(package)
    let trait = isOfCommand ? "Command" : "Sites"
    return .product(name: name, package: package, moduleAliases: aliases, condition: .when(traits: [trait]))
  }
}

#if os(macOS)
package.targets.append(
  .executableTarget(
    name: "ReachabilityApp", dependencies: ["Dialtone", "DialtoneSites"], path: "Examples/ReachabilityApp"))
#else
// The same app without its views, for its tests: SwiftUI is Apple's.
package.targets += [
  .target(
    name: "ReachabilityModel", dependencies: ["Dialtone", "DialtoneSites"], path: "Examples/ReachabilityApp/Model"),
  .testTarget(
    name: "ReachabilityModelTests",
    dependencies: [
      "Dialtone", "DialtoneSites", "DialtoneSitesTesting", "DialtoneTesting", "ReachabilityModel", "TestSupport",
    ]),
]
#endif

#if !os(Linux)
// The command waits with epoll(7), and what is tested or measured here is Linux.
let linuxTargets = [
  "AppleSource", "AppleTests", "AppleWrappers", "AppleWrappers5", "CLITests", "DialtoneCLI", "LinuxTests",
  "radio-probe",
]
package.targets.removeAll { linuxTargets.contains($0.name) }
package.products.removeAll { $0.name == "dialtone" }
#endif

// For Scripts/fuzz alone. The program has no main of its own: libFuzzer brings it.
if Context.environment["DIALTONE_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "CDialtoneSystem", "Dialtone", "DialtoneSites", "Netlink", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      path: "Tests/Fuzz", exclude: ["Corpus"], swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

// For `Benchmarks/endurance --debug` alone, which has a debug build of this package already.
if Context.environment["DIALTONE_ENDURANCE"] != nil {
  package.targets += [
    .target(name: "CBenchmark", path: "Benchmarks/Sources/CBenchmark"),
    .executableTarget(
      name: "Endurance", dependencies: ["CBenchmark", "Dialtone", "DialtoneSites"],
      path: "Benchmarks/Sources/Endurance"),
  ]
}

// For Scripts/check alone: what needs no other package, and its tests, which build in a quarter of the time.
if Context.environment["DIALTONE_CORE_ALONE"] != nil {
  var others: Set<String> = []
  func isOther(_ target: Target) -> Bool {
    target.dependencies.contains { dependency in
      switch dependency {
      case .productItem: true
      case .targetItem(let name, _), .byNameItem(let name, _): others.contains(name)
      @unknown default: false
      }
    }
  }
  while let target = package.targets.first(where: { !others.contains($0.name) && isOther($0) }) {
    others.insert(target.name)
  }
  package.targets.removeAll { others.contains($0.name) }
  package.products.removeAll { ["DialtoneSites", "DialtoneSitesTesting", "dialtone"].contains($0.name) }
}

// The same settings for every target of our own.
for target in package.targets {
  let isOthers = target.name.hasPrefix("Apple") && target.name != "AppleSource"  // as its authors would compile it
  target.swiftSettings =
    (target.swiftSettings ?? [])
    + (isOthers
      ? []
      : [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
        .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
        .strictMemorySafety(),  // SE-0458: kernel bytes are untrusted
      ])
  if Context.environment["CI"] != nil {
    // SE-0480: in CI only, so that a newer compiler breaks nobody.
    target.swiftSettings?.append(.treatAllWarnings(as: .error))
  }
  let testing = ["Endurance", "Fuzz", "MessageBuilding", "NetworkLab", "SiteLab", "TestSupport"]
  let isForTests = testing.contains(target.name)
  if !target.isTest && !isOthers && !isForTests {
    // A public type says whether it is Sendable.
    target.swiftSettings?.append(.treatWarning("ExplicitSendable", as: .error))
  }
}
