// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Foundation
import Testing

@testable import DialtoneExporter

/// The dates of RFC 9110, 5.6.7.
struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "sun, 06 nov 1994 08:49:37 GMT",
  ])
  func readsItsThreeForms(text: String) { #expect(HTTPDate.seconds(of: text) == 784_111_777) }

  @Test func writesTheFirstForm() {
    let time = UTCTimestamp(durationSince1970: .milliseconds(784_111_777_999))
    #expect(HTTPDate.text(of: time) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  /// As another library writes it, on each day of years with and without a 29th of February.
  @Test(arguments: [1900, 1970, 1999, 2000, 2023, 2024])
  func readsEachDay(year: Int) throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let first = try #require(formatter.date(from: "Sat, 01 Jan \(year) 00:00:59 GMT")).timeIntervalSince1970
    for day in 0..<366 {
      let seconds = Int(first) + day * 86_400 + day * 61
      let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
      #expect(HTTPDate.seconds(of: text) == seconds, "\(text)")
      #expect(HTTPDate.text(of: UTCTimestamp(durationSince1970: .seconds(seconds))) == text)
    }
  }

  @Test(arguments: [
    "", "tomorrow", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 0 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
    // As Go has it: two digits, and no day that the month lacks.
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 30 Feb 2020 10:00:00 GMT", "Wed, 31 Dec 1997 24:00:00 GMT",
    "Fri, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT", "Wed, 32 Dec 1997 10:00:00 GMT",
    "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 10000 08:49:37 GMT", "Sun, Nov 1994 08:49:37 GMT",
    // RFC 9110, 5.6.7: GMT alone.
    "Sun, 06 Nov 1994 08:49:37 +0200", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37",
    "Sun Nov  6 08:49:37 1994 PST",
  ])
  func refusesWhatIsNoDate(text: String) { #expect(HTTPDate.seconds(of: text) == nil) }
}
