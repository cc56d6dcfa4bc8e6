// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests by URLSession, for tests: `SessionProbe METHOD URL SECONDS…`, one for each number of seconds that it
/// may take. It prints a line when it begins and one for each answer.
@main
struct SessionProbe {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 3, let url = URL(string: arguments[2]) else { exit(64) }
    for text in arguments[3...] {
      guard let seconds = Int64(text) else { exit(64) }
      var policy = ConnectivityPolicy()
      policy.timeoutForResource = .seconds(seconds)
      var request = URLRequest(url: url)
      request.httpMethod = arguments[1]
      try write("begin")
      do {
        let (data, response) = try await URLSession.shared.data(for: request, connectivity: policy)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        try write("\(status) \(String(decoding: data, as: UTF8.self))")
      } catch let error as PathGate.Unavailable {
        try write("unavailable \(error.reason.map { "\($0.identifier)" } ?? "-")")
      } catch let error as URLError {
        try write("error \(error.code.rawValue)")
      }
    }
  }

  /// At once, whatever the standard output is.
  private static func write(_ line: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }
}
