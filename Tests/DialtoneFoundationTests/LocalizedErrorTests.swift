// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Foundation
import Testing

/// What Foundation says of an error.
struct LocalizedErrorTests {
  @Test func isWhatTheErrorSays() async throws {
    let target = #expect(throws: ReachabilityError.self) { try ReachabilityTarget.host("") }
    #expect(try #require(target as (any Error)?).localizedDescription == target?.message)
    let gate = PathGate(environment: ScriptedNetwork().environment)
    let path = await #expect(throws: PathGate.Unavailable.self) { try await gate.waitForPath(timeout: .zero) }
    #expect(try #require(path as (any Error)?).localizedDescription == path?.description)
  }
}
