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
      internet; local-network; a host name or an IP address (link-local with its %zone), with or without a port \
      (example.com:443, [2001:db8::1]:443); or a URL, whose host and port count (default: internet).
      """, valueName: "target"),
    completion: .list(WatchedTarget.words))
  var targets: [String] = []

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Option(interface: "Only this interface counts; it need not exist yet.")
  var interface: String?

  @Option(
    "The port that the packets go to, 1 to 65535, for targets that have none: routing rules may look at it.",
    value: "number", transform: PortArgument.parse)
  var port: UInt16?

  @Flag(help: "The packets are UDP, and not TCP: routing rules may look at that.")
  var udp = false

  @Option("The firewall mark of the packets, decimal or 0x hexadecimal.", value: "mark", transform: FirewallMark.parse)
  var mark: UInt32?

  @Option(
    "The address the packets come from; the target has to be an IP address.", value: "address",
    transform: SourceAddress.parse)
  var from: IPAddress?

  @Flag(name: .customLong("no-nat64"), help: "Do not look for IPv4 addresses behind the network's NAT64.")
  var noNAT64 = false

  /// The first option given that is about packets and not about sites, as it is typed.
  var pathOption: String? {
    if mark != nil { return "--mark" }
    if from != nil { return "--from" }
    if port != nil { return "--port" }
    if udp { return "--udp" }
    return noNAT64 ? "--no-nat64" : nil
  }
}

/// A command whose arguments are targets that it watches.
///
/// Its groups of options have no groups of their own: in a debug build the parser checks a group four times, and each
/// group in it four times as often.
protocol TargetCommand: WordCommand {
  var options: TargetOptions { get set }
  var lists: ListOptions { get }
  var families: FamilyOptions { get }
}

extension TargetCommand {
  var typed: [String] {
    get { options.targets }
    set { options.targets = newValue }
  }

  /// The targets, checked as a whole.
  func targetRequest(settling: Duration = .zero) throws -> TargetRequest {
    var configuration = ReachabilityConfiguration()
    configuration.interface = options.interface
    configuration.mark = options.mark ?? 0
    configuration.family = families.family
    configuration.transport = options.udp ? .udp : .tcp
    configuration.port = options.port
    configuration.settling = settling
    configuration.usesNAT64 = !options.noNAT64
    return try TargetRequest(
      entries: lists.entries(after: options.targets), source: options.from, configuration: configuration)
  }
}

/// A command whose targets may be sites that it asks.
protocol SiteTargetCommand: TargetCommand {
  var site: WatchedSiteOptions { get }
  var siteOptions: SiteOptions { get }
}

extension SiteTargetCommand {
  /// The sites that the targets are, checked as a whole; `nil` if the targets are not to be asked.
  func siteRequest(settling: Duration? = nil, acceptsConnectionOnDemand: Bool = false) throws -> SiteRequest? {
    guard site.isWanted else {
      if let option = siteOptions.given ?? site.given {
        throw ValidationError("\(option) is about sites; add --site, or leave it out")
      }
      return nil
    }
    if let option = options.pathOption {
      throw ValidationError("\(option) and --site exclude each other; leave one of them out")
    }
    var configuration = site.configuration(
      check: try siteOptions.configuration(timeout: nil, interface: options.interface, family: families.family))
    if let settling { configuration.settling = settling }
    configuration.check.acceptsConnectionOnDemand = acceptsConnectionOnDemand
    return try SiteRequest(entries: lists.entries(after: options.targets), configuration: configuration)
  }
}
