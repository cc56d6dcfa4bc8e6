// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// What an engine is told by a scripted network, asked without one.
struct ScriptedSourceTests {
  private let network = ScriptedNetwork()

  private func makeSource() -> any NetworkSource {
    let provider = network.environment.provider
    return provider.makeSource(SemaphoreWaiter(provider.time), provider.time)
  }

  private func path(_ change: (inout PathConfiguration) -> Void = { _ in }) -> NetworkPath {
    var configuration = PathConfiguration()
    change(&configuration)
    return makeSource().path(configuration).path
  }

  private func answer(_ query: RouteQuery) -> Reachability? {
    var answer: Reachability?
    makeSource().answer([query]) { _, state in answer = state }
    return answer
  }

  // MARK: Changes

  @Test func aChangeIsAnnouncedOnceAndNamesApart() {
    let source = makeSource()
    func drained() -> [Bool] {
      var change = NetworkChange()
      source.drain(into: &change)
      return [change.touchesEverything, change.touchesNames]
    }
    #expect(drained() == [true, false] && drained() == [false, false])
    network.set(.wifi)
    #expect(drained() == [true, false] && drained() == [false, false])
    network.set(.failing, forName: "name.example")
    #expect(drained() == [true, true] && drained() == [false, false])
    #expect(source.nextPoll == nil)
  }

  // MARK: Paths

  @Test(arguments: [
    (ScriptedPath.wifi, "wlan0", UInt32(2), InterfaceKind.wifi), (.wired, "eth0", 3, .wired),
    (.cellular, "wwan0", 4, .cellular),
  ])
  func theStandardPathsAreAsTheirNamesSay(scripted: ScriptedPath, name: String, index: UInt32, kind: InterfaceKind) {
    network.set(scripted)
    let way = path()
    #expect(way.status == .satisfied && way.supportsDNS && way.supportsIPv4 && way.supportsIPv6)
    #expect(way.preferredInterface?.identity == interface(name, index, kind))
    #expect(way.gateways == [ip("192.0.2.1")] && way.interfaces.first?.addresses == [ip("192.0.2.2")])
    #expect(way.isExpensive == (kind == .cellular) && !way.isConstrained)
    let state = answer(RouteQuery(.address(ip("203.0.113.1"))))
    #expect(state?.gateway == ip("192.0.2.1") && state?.source == ip("192.0.2.2"))
  }

  @Test func aPathWithoutAWayHasItsReason() {
    #expect(path().reason == .noRoute && path().status == .unsatisfied)
    network.set(.unreachable(.noCarrier, over: interface("eth0")))
    #expect(path().reason == .noCarrier && path().interfaces.isEmpty)
    network.set(.denied)
    #expect(path { $0.requiredKinds = [.wired] } ≈ NetworkPath(.undetermined, reason: .denied))
  }

  @Test func namedInterfacesCostMoneyOrAreToBeUsedSparingly() {
    network.set(.wifi)
    #expect(path { $0.meteredInterfaces = ["wlan0"] }.isExpensive)
    #expect(!path { $0.meteredInterfaces = ["eth0"] }.isExpensive)
    #expect(!path { $0.meteredInterfaces = ["wlan0"] }.isConstrained)
    #expect(path { $0.constrainedInterfaces = ["wlan0"] }.isConstrained)
    #expect(!path { $0.constrainedInterfaces = ["eth0"] }.isConstrained)
    #expect(!path { $0.constrainedInterfaces = ["wlan0"] }.isExpensive)
  }

  @Test func onlyInterfacesThatCountMakeAPath() {
    network.set(.wifi)
    for wifi in [
      path { $0.requiredKinds = [.wifi] }, path { $0.prohibitedKinds = [.wired] }, path { $0.interface = "wlan0" },
      path { $0.interface = "2" },
    ] {
      #expect(wifi.status == .satisfied && wifi.supportsDNS && wifi.interfaces.map(\.name) == ["wlan0"])
    }
    for none in [
      path { $0.requiredKinds = [.wired] }, path { $0.prohibitedKinds = [.wifi] }, path { $0.interface = "eth0" },
      path { $0.interface = "3" },
    ] {
      #expect(none ≈ NetworkPath(.unsatisfied, reason: .noInterface))
    }
  }

  @Test func aConnectionThatIsRequiredIsSoOverAnInterfaceThatCounts() {
    network.set(.requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)))
    for way in [path(), path { $0.requiredKinds = [.cellular] }, path { $0.interface = "wwan0" }] {
      #expect(way.status == .requiresConnection && way.reason == .noSession)
    }
    #expect(path { $0.prohibitedKinds = [.cellular] } ≈ NetworkPath(.unsatisfied, reason: .noInterface))
  }

  private static let wifi = NetworkPath.Interface(interface("wlan0", 2, .wifi))
  private static let idle = NetworkPath.Interface(interface("eth0", 3, .wired), supportsIPv4: false)
  private static let loopback = NetworkPath.Interface(interface("lo", 1, .loopback))
  /// Its name is the index of another.
  private static let three = NetworkPath.Interface(interface("3", 7, .wired))

  @Test func aPathOfATestIsRestricted() {
    network.set(NetworkPath(.satisfied, interfaces: [Self.wifi, Self.idle], supportsDNS: true))
    #expect(path().interfaces == [Self.wifi, Self.idle] && path().supportsDNS)
    let idle = path { $0.requiredKinds = [.wired] }
    #expect(idle ≈ NetworkPath(.unsatisfied, reason: .noRoute, interfaces: [Self.idle]))
    let wifi = path { $0.prohibitedKinds = [.wired] }
    #expect(wifi ≈ NetworkPath(.satisfied, interfaces: [Self.wifi], supportsDNS: true))
    // What is preferred is down, and another interface leads on.
    network.set(NetworkPath(.unsatisfied, reason: .noCarrier, interfaces: [Self.idle, Self.wifi]))
    #expect(path().status == .unsatisfied)
    #expect(path { $0.requiredKinds = [.wifi] } ≈ NetworkPath(.satisfied, interfaces: [Self.wifi]))
    let down = path { $0.requiredKinds = [.wired] }
    #expect(down ≈ NetworkPath(.unsatisfied, reason: .noCarrier, interfaces: [Self.idle]))
    network.set(nil as NetworkPath?)
    #expect(path().reason == .noRoute)
  }

  @Test func aNameComesBeforeAnIndexAndLoopbackNeverCounts() {
    network.set(NetworkPath(.satisfied, interfaces: [Self.wifi, Self.idle, Self.three, Self.loopback]))
    #expect(path { $0.interface = "3" }.interfaces == [Self.three])
    #expect(path { $0.interface = "7" }.interfaces == [Self.three])
    #expect(path { $0.interface = "lo" }.interfaces.isEmpty)
    #expect(path { $0.requiredKinds = [.loopback] }.interfaces.isEmpty)
    #expect(path { $0.prohibitedKinds = [.wifi] }.interfaces == [Self.idle, Self.three])
  }

  // MARK: Answers

  @Test func everyQueryIsAnsweredInItsPlace() {
    network.set(.wifi)
    network.set(.wired, for: ip("192.0.2.8"))
    var found: [Int: String] = [:]
    let queries = ["192.0.2.7", "192.0.2.8", "192.0.2.9"].map { RouteQuery(.address(ip($0))) }
    makeSource().answer(queries) { found[$0] = $1.interface?.name }
    #expect(found == [0: "wlan0", 1: "eth0", 2: "wlan0"] && network.queryCount == 3)
  }

  @Test func aQueryForOneInterfaceIsAnsweredByItAlone() {
    network.set(.wifi)
    let address = ip("203.0.113.1")
    #expect(answer(RouteQuery(.address(address), interface: LinkName("wlan0")))?.isReachable == true)
    #expect(answer(RouteQuery(.address(address), interface: LinkName("2")))?.isReachable == true)
    let other = answer(RouteQuery(.address(address), interface: LinkName("wlan1")))
    #expect(other?.isUnreachable(.noInterface) == true && other?.destination == address && other?.interface == nil)
  }

  @Test func aSourceHasAnAnswerOfItsOwn() {
    let (source, target) = (ip("192.0.2.2"), ip("203.0.113.1"))
    network.set(.wifi)
    network.set(.unreachable(.noAddress), from: source)
    #expect(answer(RouteQuery(.address(target), source: source))?.isUnreachable(.noAddress) == true)
    #expect(answer(RouteQuery(.address(target)))?.isReachable == true)
    #expect(answer(RouteQuery(.address(target), source: ip("192.0.2.3")))?.isReachable == true)
    #expect(answer(RouteQuery(.address(target), source: ip("2001:db8::1")))?.isUnreachable(.noAddress) == true)
    network.set(nil, from: source)
    #expect(answer(RouteQuery(.address(target), source: source))?.isReachable == true)
  }

  @Test func neighboursOnALinkNeedNoGateway() {
    for (path, kind, isStraight) in [
      (ScriptedPath.wifi, InterfaceKind.wifi, true), (.wired, .wired, true), (.cellular, .cellular, false),
    ] {
      network.set(path)
      let neighbour = answer(RouteQuery(.address(ip("169.254.1.1"))))
      #expect((neighbour?.gateway == nil) == isStraight && neighbour?.flags.contains(.isDirect) == isStraight)
      let local = answer(RouteQuery(.localNetwork(nil, nil)))
      #expect(local?.isReachable == isStraight && local?.gateway == nil)
      #expect(answer(RouteQuery(.localNetwork(kind, nil)))?.isReachable == isStraight)
      #expect(answer(RouteQuery(.localNetwork(.tunnel, nil)))?.isUnreachable(.noInterface) == true)
    }
    network.set(.unreachable(.noCarrier))
    let local = answer(RouteQuery(.localNetwork(.wifi, nil)))
    #expect(local?.isUnreachable(.noCarrier) == true && local?.flags.isEmpty == true)
  }

  // MARK: Names

  @Test func aLookupComesToWhatWasSet() {
    let addresses = [ip("2001:db8::1"), ip("192.0.2.1")]
    let lookUp = network.environment.provider.lookup
    #expect(lookUp("a.example", nil) == .noAddress)
    network.set(.addresses(addresses), forName: "A.example.")
    #expect(lookUp("a.example", nil) == .addresses(addresses))
    #expect(lookUp("a.example", .ipv4) == .addresses([addresses[1]]))
    #expect(lookUp("a.example", .ipv6) == .addresses([addresses[0]]))
    network.set(.addresses([addresses[0]]), forName: "a.example")
    #expect(lookUp("a.example", .ipv4) == .noAddress)
    for (answer, result) in [(ScriptedNames.failing, NameLookupResult.failed), (.nonexistent, .noAddress)] {
      network.set(answer, forName: "a.example")
      #expect(lookUp("a.example", nil) == result)
    }
    network.set(.hanging, forName: "a.example")
    #expect(lookUp("a.example", nil) == nil)
  }

  @Test func anAddressIsProvidedForANameThatHasNone() {
    network.set(.failing, forName: "set.example")
    for name in ["set.example", "other.example"] { network.provideAddress(forName: name) }
    #expect(network.environment.provider.lookup("set.example", nil) == .failed)
    #expect(network.environment.provider.lookup("other.example", nil) == .addresses([ip("192.0.43.8")]))
  }
}
