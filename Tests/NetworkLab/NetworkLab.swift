// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A Linux network namespace with only `lo` in it, for one test. A process can have any number at once.
///
/// The namespace belongs to a thread of the lab. Sockets opened in ``run(_:)``, threads created there and processes
/// spawned by the lab are inside. It ends with the last of those, so keep none of them longer than the lab.
///
/// ```swift
/// let lab = try NetworkLab()
/// try lab.addVeth("v0", "v1")
/// try lab.up("v0", "v1")
/// try lab.addAddress("10.0.0.1/24", "v0")
/// try lab.addRoute("default", via: "10.0.0.2")
/// ```
package final class NetworkLab: Sendable {
  let writer: LabWriter
  private let thread = LabThread()
  private let isRefused = LabLock(false)

  /// Makes the namespace.
  ///
  /// With `ownMounts` the thread also gets a mount namespace. Its `/sys` shows this network (elsewhere `/sys` shows the
  /// machine's), and ``bindMount(_:over:)`` works.
  package init(loopbackUp: Bool = true, ownMounts: Bool = false) throws(LabError) {
    try thread.start()
    do {
      writer = try thread.run {
        try check(lab_enter(ownMounts), "making a network namespace")
        return try LabWriter()
      }
      if loopbackUp { try up("lo") }
    } catch {
      thread.stop()
      throw error as? LabError ?? LabError("\(error)")
    }
  }

  deinit { thread.stop() }

  /// Runs `body` inside the namespace and waits for it. Calls from several threads run one after another.
  ///
  /// Beware of `/proc/self/net` and `/proc/net`: they show the main thread's namespace. Use `/proc/thread-self/net`.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    try thread.run(body)
  }

  /// A descriptor of the namespace, for setns(2). The caller closes it.
  package func openNamespace() throws -> Int32 {
    try run { try check(lab_open_namespace(), "opening the namespace") }
  }

  /// From now on, refuses netlink on the lab's thread, and to threads and processes started from it.
  ///
  /// The lab's own writer was opened before and still works; ``ip(_:)`` does not.
  package func deny(_ denial: LabDenial) throws {
    _ = try run { try check(lab_deny(denial.kind, denial.code), "installing a system call filter") }
    if denial.kind == LAB_DENY_NETLINK { isRefused.withLock { $0 = true } }
  }

  /// Whether netlink sockets inside are refused from now on.
  package var refusesNetlinkSockets: Bool { isRefused.withLock { $0 } }

  /// Mounts a file or folder over another, for everything inside the lab. Needs `ownMounts`.
  package func bindMount(_ source: String, over target: String) throws {
    // Both paths are only read, during the call.
    _ = try run { try check(unsafe lab_bind_mount(source, target), "mount --bind \(source) \(target)") }
  }
}
#endif
