// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// Whether the command `nft` of nftables and its kernel side exist.
  package static let hasFirewall: Bool = {
    guard let lab = try? NetworkLab() else { return false }
    return (try? lab.nft("add table inet probe")) != nil
  }()

  /// Whether the kernel has IPsec transformations (ip-xfrm(8)).
  package static let hasTransformations: Bool = {
    guard hasIPRoute2, let lab = try? NetworkLab() else { return false }
    return (try? lab.ip("xfrm policy list").status) == 0
  }()

  /// Runs `nft` inside the lab with these commands.
  package func nft(_ commands: String...) throws {
    guard let path = Self.nftPath else { throw LabError("nftables is not installed") }
    let process = try spawn(path, ["-f", "-"], input: commands.map { $0 + "\n" }.joined())
    let limit = Duration.seconds(30)
    let error = try process.error.readAll(within: limit)
    guard case .exited(0) = try process.waitForExit(within: limit) else { throw LabError("nft: \(error)") }
  }

  private static let nftPath = command("nft")
}
#endif
