// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import TestSupport
import Testing

@testable import DialtoneSites

struct SiteErrorTests {
  @Test(arguments: [ChannelError.eof, .ioOnClosedChannel, .inputClosed])
  func repeatsNoWordsOfNIO(_ error: ChannelError) {
    for message in [
      SiteError(connecting: error).message, SiteError(losing: error).message,
      SiteError(handshaking: error, certificate: nil, now: 0).message,
    ] {
      #expect(!message.contains("\(error)"), "\(message)")
    }
  }

  /// Texts that other programs rely on. They never change.
  static let codes: [(code: SiteError.Code, identifier: String)] = [
    (.invalidURL, "invalid-url"), (.invalidConfiguration, "invalid-configuration"), (.timedOut, "timed-out"),
    (.nameNotResolved, "name-not-resolved"), (.privateAddress, "private-address"), (.noPath, "no-path"),
    (.cannotConnect, "cannot-connect"), (.tlsFailed, "tls-failed"), (.certificateExpired, "certificate-expired"),
    (.certificateNotYetValid, "certificate-not-yet-valid"), (.certificateNameMismatch, "certificate-name-mismatch"),
    (.certificateUntrusted, "certificate-untrusted"), (.connectionLost, "connection-lost"),
    (.malformedResponse, "malformed-response"), (.headersTooLarge, "headers-too-large"),
    (.proxyFailed, "proxy-failed"), (.trustUnreadable, "trust-unreadable"), (.unreadableBody, "unreadable-body"),
    (.headRefused, "head-refused"), (.certificateExpiresSoon, "certificate-expires-soon"),
  ]

  @Test(arguments: 0..<codes.count)
  func aCodeGoesThereAndBack(position: Int) {
    let (code, identifier) = Self.codes[position]
    #expect(code.identifier == identifier)
    #expect(SiteError.Code(identifier: identifier) == code)
    #expect(!"\(code)".isEmpty && !"\(code)".contains("-"))
  }

  @Test func noCodeIsMissingFromTheList() throws {
    #expect(SiteError.Code.all == Self.codes.map(\.code))
    #expect(try constantCount(of: "Code", in: "Sources/DialtoneSites/Values/SiteError.swift") == Self.codes.count)
    #expect(SiteError.Code(identifier: "nonsense") == nil)
  }

  @Test func onlyAFailedCallHasAnErrorNumber() {
    #expect(SiteError(.timedOut, "no answer").errno == nil)
    #expect(SiteError(.cannotConnect, "refused", errno: 111) != SiteError(.cannotConnect, "refused"))
  }

  @Test func aMissingPathIsWordedTheSameEverywhere() {
    #expect(SiteError.noPath(nil).message == "no path to the site: no reason is known")
    #expect(SiteError.noPath(.linkDown).message == "no path to the site: the interface is down")
    let missing = SiteError.noPath(.noInterface, over: "wlan9")
    #expect(missing.message == "no path to the site over wlan9: the interface does not exist")
    let name = SiteError.noPath(.linkDown, to: "look the name up")
    #expect(name.message == "no path to look the name up: the interface is down")
  }
}
