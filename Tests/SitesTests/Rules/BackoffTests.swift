// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

struct BackoffTests {
  @Test(arguments: [(1, 1.0), (2, 2), (3, 4), (8, 128), (9, 256), (10, 300), (11, 300), (1_000_000, 300)])
  func doublesUpToTheLongest(_ failure: Int, _ seconds: Double) {
    let delay = Backoff.retryDelay(failure: failure, configuration: SiteMonitorConfiguration(), random: 0.5)
    #expect(Double(delay) == seconds * 1e9)
  }

  @Test(arguments: 1...12) func isJitteredByAFifth(_ failure: Int) {
    func delay(_ random: Double) -> Int64 {
      Backoff.retryDelay(failure: failure, configuration: SiteMonitorConfiguration(), random: random)
    }
    #expect(delay(0) == delay(0.5) / 5 * 4)
    let longest = Double(delay(0.999_999)) / Double(delay(0.5))
    #expect(longest > 1.19 && longest <= 1.2)
  }

  @Test func intervalsAreJitteredByATenth() {
    #expect(Backoff.interval(.seconds(300), random: 0) == 270_000_000_000)
    #expect(Backoff.interval(.seconds(300), random: 0.5) == 300_000_000_000)
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 2, Duration(attoseconds: .max)])
  func takesAnyDuration(_ duration: Duration) {
    #expect(Backoff.interval(duration, random: 0.999) == .max)
    var configuration = SiteMonitorConfiguration()
    configuration.maximumRetryDelay = duration
    #expect(Backoff.retryDelay(failure: 1_000, configuration: configuration, random: 0.999) > 0)
    configuration.retryDelay = duration
    #expect(Backoff.retryDelay(failure: 1, configuration: configuration, random: 0.999) == .max)
  }
}
