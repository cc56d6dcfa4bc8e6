// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI

/// The bytes are those of RFC 1035, 4.1 and 4.1.2, written by hand.
struct NameServerWatchTests {
  private static let answer: [UInt8] = [
    0xAB, 1, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x66, 3, 0x69, 0x73, 0x69, 4, 0x61, 0x72, 0x70, 0x61, 0, 0, 1, 0, 1,
  ]

  private func isAnswer(_ bytes: [UInt8]) throws -> Bool {
    NameServerWatch.isAnswer(bytes, to: try HostName("F.ISI.arpa"), id: 0xAB01)
  }

  /// The name has addresses or none of that type (NOERROR), or does not exist (NXDOMAIN).
  @Test(arguments: 0...15 as ClosedRange<UInt8>)
  func takesWhatAServerKnows(code: UInt8) throws {
    var answer = Self.answer
    answer[3] |= code
    #expect(try isAnswer(answer) == [0, 3].contains(code))
  }

  /// The first length of the name stands right behind the header of 12 bytes (RFC 1035, 4.1.1).
  @Test(arguments: answer.indices.filter { $0 < 2 || $0 >= 12 })
  func comparesTheWholeQuestion(position: Int) throws {
    var other = Self.answer
    other[position] ^= 0x80
    #expect(try !isAnswer(other))
    #expect(try isAnswer(Self.answer))
  }

  @Test func refusesWhatIsNoAnswer() throws {
    var question = Self.answer
    question[2] = 1
    #expect(try !isAnswer(question) && !isAnswer([]) && !isAnswer(Array(Self.answer.prefix(12))))
    #expect(try !isAnswer(Self.answer.dropLast()))
  }

  /// Without recursion or authority, programs ask the next server; but this one answers. Some change capitals.
  @Test func takesAnswersOfAllKinds() throws {
    var other = Self.answer
    other[3] = 0
    #expect(try isAnswer(other))
    other[13] = 0x46
    #expect(try isAnswer(other + [0xC0, 12]))
  }
}
