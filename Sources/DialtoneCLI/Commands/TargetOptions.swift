// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// What is to be watched: the same for all commands that watch something.
struct TargetOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      """
      internet, local-network, a host name, an IP address (link-local with its %zone), each of the last two also with \
      a port (example.com:443, [2001:db8::1]:443), or a URL, whose host and port count (default: internet).
      """, valueName: "target"),
    completion: .list(WatchedTarget.words))
  var targets: [String] = []

  @OptionGroup var lists: ListOptions

  @OptionGroup var families: FamilyOptions

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Option(
    name: [.customShort("i", allowingJoined: true), .customLong("interface")], parsing: .unconditional,
    help: ArgumentHelp("Only this interface counts; it need not exist yet.", valueName: "name"),
    completion: .custom { _, _, _ in InterfaceName.completions() }, transform: InterfaceName.parse)
  var interface: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The port that the packets go to, 1 to 65535, for targets that have none: routing rules may look at it.",
      valueName: "number"),
    transform: PortArgument.parse)
  var port: UInt16?

  @Flag(help: "The packets are UDP, and not TCP: routing rules may look at that.")
  var udp = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The firewall mark of the packets, decimal or 0x hexadecimal.", valueName: "mark"),
    transform: FirewallMark.parse)
  var mark: UInt32?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The address the packets come from; the target is then an IP address.", valueName: "address"),
    transform: SourceAddress.parse)
  var from: IPAddress?

  @Flag(name: .customLong("no-nat64"), help: "Do not look for IPv4 addresses behind the network's NAT64.")
  var noNAT64 = false

  /// The sites that the targets are, checked as a whole; `nil` if the targets are not to be asked.
  func siteRequest(
    _ site: WatchedSiteOptions, settling: Duration? = nil, acceptsConnectionOnDemand: Bool = false
  ) throws -> SiteRequest? {
    guard site.isWanted else {
      if let option = site.given { throw ValidationError("\(option) is about sites; add --site, or leave it out") }
      return nil
    }
    if let option = pathOption {
      throw ValidationError("\(option) and --site exclude each other; leave one of them out")
    }
    var configuration = try site.configuration(interface: interface, family: families.family)
    if let settling { configuration.settling = settling }
    configuration.check.acceptsConnectionOnDemand = acceptsConnectionOnDemand
    return try SiteRequest(entries: lists.entries(after: targets), configuration: configuration)
  }

  /// The first option given that is about packets and not about sites, as it is typed.
  private var pathOption: String? {
    if mark != nil { return "--mark" }
    if from != nil { return "--from" }
    if port != nil { return "--port" }
    if udp { return "--udp" }
    return noNAT64 ? "--no-nat64" : nil
  }

  /// The targets, checked as a whole.
  func request(settling: Duration = .zero) throws -> TargetRequest {
    var configuration = ReachabilityConfiguration()
    configuration.interface = interface
    configuration.mark = mark ?? 0
    configuration.family = families.family
    configuration.transport = udp ? .udp : .tcp
    configuration.port = port
    configuration.settling = settling
    configuration.nat64 = noNAT64 ? .off : .automatic
    return try TargetRequest(entries: lists.entries(after: targets), source: from, configuration: configuration)
  }
}
