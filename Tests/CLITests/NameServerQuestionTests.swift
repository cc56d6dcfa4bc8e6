// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI

/// The bytes are those of RFC 1035, 4.1 and 4.1.2, written by hand.
struct NameServerQuestionTests {
  private func question() throws -> NameServerQuestion {
    NameServerQuestion(name: try HostName("F.ISI.arpa"), id: 0xAB01)
  }

  private let name: [UInt8] = [1, 0x66, 3, 0x69, 0x73, 0x69, 4, 0x61, 0x72, 0x70, 0x61, 0, 0, 1, 0, 1]

  @Test func asksForAnAddressWithRecursion() throws {
    #expect(try question().message == [0xAB, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name)
  }

  @Test(
    arguments: [
      // An answer, an answer that the name does not exist, a failure, a refusal.
      (0x80, true), (0x83, true), (0x82, false), (0x85, false),
    ] as [(UInt8, Bool)])
  func takesWhatAServerKnows(code: UInt8, isAnswer: Bool) throws {
    let answer: [UInt8] = [0xAB, 1, 0x81, code, 0, 1, 0, 0, 0, 0, 0, 0] + name
    #expect(try question().isAnswered(by: answer) == isAnswer)
  }

  @Test func refusesWhatAnswersSomethingElse() throws {
    let question = try question()
    let answer: [UInt8] = [0xAB, 1, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0] + name
    #expect(question.isAnswered(by: answer))
    // Its own question, another number, another name, and one that is cut off.
    #expect(!question.isAnswered(by: question.message))
    #expect(!question.isAnswered(by: [0xAB, 2] + answer.dropFirst(2)))
    var other = answer
    other[13] = 0x67
    #expect(!question.isAnswered(by: other))
    #expect(!question.isAnswered(by: answer.dropLast()))
    // Servers may change capitals.
    other[13] = 0x46
    #expect(question.isAnswered(by: other))
  }
}
