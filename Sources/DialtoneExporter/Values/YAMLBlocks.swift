// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension YAMLCursor {
  /// A text below `|` or `>`, which keep line breaks and fold them.
  mutating func takeBlock(in parent: Int) throws(ConfigurationError) -> String {
    let isFolded = next == ">"
    let (ending, digit) = try takeBlockHeader()
    let indentation = if let digit { max(parent, 0) + digit } else { try blockIndentation(in: parent) }
    var text = Text()
    var breaks = 0
    var canFold = false
    while !isDocumentOver {
      while next == " ", column < indentation { advance() }
      if take("\n") {
        breaks += 1
        continue
      }
      if next == nil || column < indentation { break }
      let isWord = next != " " && next != "\t"
      text += isFolded && canFold && isWord ? Self.folded(breaks) : Text(repeating: "\n", count: breaks)
      let start = index
      while next != nil, next != "\n" { advance() }
      text += self.text(from: start)
      breaks = 0
      canFold = isWord
    }
    switch ending {
    case "+": text += Text(repeating: "\n", count: breaks)
    case "-": break
    default: if !text.isEmpty, breaks > 0 { text.append("\n") }
    }
    try skipToContent()
    return Self.string(text)
  }

  private mutating func takeBlockHeader() throws(ConfigurationError) -> (ending: Unicode.Scalar?, indentation: Int?) {
    advance()
    var ending: Unicode.Scalar?
    var indentation: Int?
    while let sign = next, !isGap(at: 0) {
      switch sign {
      case "+" where ending == nil, "-" where ending == nil: ending = sign
      case "1"..."9" where indentation == nil: indentation = Int(sign.value - 0x30)
      default: throw refusal("this is no YAML: after | or > a + or -, a digit and a comment can stand, and no text")
      }
      advance()
    }
    skipBlanks()
    skipComment()
    if !take("\n"), next != nil { throw refusal("this is no YAML: after | or > the text begins on the next line") }
    return (ending, indentation)
  }

  /// The column of the first line that is not blank.
  private func blockIndentation(in parent: Int) throws(ConfigurationError) -> Int {
    var ahead = self
    var column = 0
    var most = 0
    repeat {
      column = 0
      while ahead.take(" ") { column += 1 }
      most = max(most, column)
    } while ahead.take("\n")
    if ahead.next != nil, column > parent, most > column {
      throw ahead.refusal("this is no YAML: a blank line above this text is indented more than the text")
    }
    return max(max(parent, 0) + 1, most)
  }
}
