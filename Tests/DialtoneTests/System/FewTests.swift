// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

struct FewTests {
  /// Like an array, whatever the number of elements.
  @Test(arguments: 0..<5)
  func hasWhatWasAppendedInOrder(count: Int) {
    var few = Few<Int>()
    for element in 0..<count { few.append(element) }
    #expect(few.elementsEqual(0..<count))
    #expect(few.count == count && few.isEmpty == (count == 0))
    #expect(few.reversed().elementsEqual((0..<count).reversed()))
    #expect(few.contains(count - 1) == (count > 0))
    few.removeAll()
    #expect(few.isEmpty)
    few.append(7)
    #expect(few.elementsEqual([7]))
  }

  @Test("removing one leaves all others", arguments: 1..<5)
  func leavesAllOthers(count: Int) {
    for removed in 0..<count {
      var few = Few<Int>()
      for element in 0..<count { few.append(element) }
      few.remove(at: removed)
      #expect(few.sorted() == (0..<count).filter { $0 != removed }, "\(removed) of \(count)")
      few.append(9)
      #expect(few.count == count && few.last == 9)
    }
  }

  @Test func isMadeOfALiteral() {
    let few: Few<String> = ["a", "b"]
    #expect(few.elementsEqual(["a", "b"]))
  }
}
