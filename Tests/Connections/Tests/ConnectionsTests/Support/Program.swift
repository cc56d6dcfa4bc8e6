// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import NetworkLab

/// A program of this package, beside the test bundle. It runs inside a lab, with all of its threads.
enum Program {
  static func start(_ name: String, _ arguments: [String], in lab: NetworkLab) throws -> LabProcess {
    let bundle = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return try lab.spawn(bundle.deletingLastPathComponent().appendingPathComponent(name).path, arguments)
  }
}
#endif
