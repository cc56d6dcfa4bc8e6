// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneSitesTesting
import DialtoneTesting
import TestSupport
import Testing

@testable import ReachabilityModel

/// What the sample app shows, on a scripted network.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct NetworkModelTests {
  private let network = ScriptedNetwork()

  private func makeModel(_ sites: ScriptedSites) -> NetworkModel {
    NetworkModel(environment: network.environment, sites: sites.environment)
  }

  @Test("shows the Internet and the interfaces, and follows them")
  func followsTheNetwork() async throws {
    network.set(.wifi)
    let model = makeModel(ScriptedSites(on: network))
    try await eventually("Wi-Fi is shown") { model.internet.symbol == "wifi" && !model.interfaces.isEmpty }
    #expect(model.internet.isGood == true && model.internet.words == "reachable via Wi-Fi (wlan0)")
    #expect(model.interfaces.map(\.title) == ["Wi-Fi (wlan0)"])
    network.set(.unreachable(.noCarrier))
    try await eventually("the loss is shown") { model.internet.isGood == false && model.interfaces.isEmpty }
    #expect(model.internet.symbol == "network.slash")
    network.set(.cellular)
    try await eventually("cellular is shown") { model.interfaces.first?.words.contains("metered") ?? false }
  }

  @Test("watches the site that was chosen last, and says what is no site")
  func watchesASite() async throws {
    network.set(.wired)
    let sites = ScriptedSites(on: network)
    sites.set(.status(200), for: "http://good.example/")
    sites.set(.portal, for: "http://portal.example/")
    let model = makeModel(sites)
    #expect(model.site == nil)
    model.watchSite("http://good.example/")
    try await eventually("it is available") { model.site?.isGood == true }
    model.watchSite("http://portal.example/")
    #expect(model.site?.title == "http://portal.example/" && model.site?.isGood != true)
    try await eventually("it is not") { model.site?.isGood == false }
    model.watchSite("no url")
    #expect(model.site == nil && model.problem != nil)
  }

  @Test("in the background it stops, and goes on afterwards")
  func pauses() async throws {
    network.set(.wifi)
    let model = makeModel(ScriptedSites(on: network))
    try await eventually("Wi-Fi is shown") { model.internet.symbol == "wifi" }
    model.setActive(false)
    network.set(.wired)
    try await network.settle()
    #expect(model.internet.symbol == "wifi")
    model.setActive(true)
    try await eventually("what has changed is shown") { model.internet.symbol == "cable.connector" }
  }

  @Test("the model is released, and so is what it watched")
  func isReleased() async throws {
    weak let left: NetworkModel?
    do {
      let model = makeModel(ScriptedSites(on: network))
      model.watchSite("http://good.example/")
      left = model
    }
    // What was about to tell it something may hold it for a moment.
    try await eventually("it is released") { left == nil }
  }
}
