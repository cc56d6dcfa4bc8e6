// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone
@testable import DialtoneDiagnosis
@testable import DialtoneSites

/// Reads the bytes as every text that a user or a file may give.
func fuzzText(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  fuzzAddress(text)
  fuzzTarget(text)
  fuzzURL(text)
  if let flags = ReachabilityFlags(text) {
    require(flags.description == text || flags.descriptionByBit == text, "flags that are written in another way")
  }
  let servers = NameServers.parse(text)
  require((1...3).contains(servers.count), "\(servers.count) name servers")
  for server in servers { require(!server.isUnspecified, "an unspecified name server") }
  let resolver = ResolverConfiguration(resolver: text, switching: text, hosts: text)
  require((0...15).contains(resolver.dots), "\(resolver.dots) dots")
  _ = resolver.hostsAddresses(of: "localhost")
}

private func fuzzAddress(_ text: String) {
  guard let address = IPAddress(text) else { return }
  require(IPAddress(address.description) == address, "an address that is not read back: \(address)")
}

private func fuzzTarget(_ text: String) {
  guard let target = try? ReachabilityTarget.host(text) else { return }
  // A name is as it was typed, so only what it leads to has to be the same.
  let again = try? ReachabilityTarget.host(target.description)
  require(again == target, "a target that is not read back: \(target)")
  guard case .host(let name) = target.storage else { return }
  require(name.ascii.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a name that is no A-labels")
  require(name.ascii.utf8.count <= 253, "a long name")
}

private func fuzzURL(_ text: String) {
  guard let url = try? SiteURL(text) else { return }
  require(url.text == text, "a URL whose text is another")
  require(url.port != 0, "port 0")
  require(
    url.target.utf8.first == UInt8(ascii: "/") && url.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
    "a target that cannot be sent")
  if case .name(let name) = url.host { require(name.ascii == name.text, "a host that is no A-labels: \(name.text)") }
}
