// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// The head of a request, as the client wrote it.
package struct SiteRequest: Sendable, Hashable {
  /// A field of one line, without the blanks around the value.
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: String
  }

  package let method: String
  package let target: String
  package let version: String
  package let fields: [Field]

  /// `nil` if the bytes are not the head of a request.
  package init?(head: [UInt8]) {
    var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    let words = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3 else { return nil }
    var fields: [Field] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields.append(Field(name: String(line[..<colon]), value: String(value)))
    }
    (method, target, version) = (String(words[0]), String(words[1]), String(words[2]))
    self.fields = fields
  }

  /// The values of the fields with that name, in any case.
  package func values(of name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }
}
#endif
