// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone
internal import DialtoneSites

/// What the process uses, under the names that Prometheus' clients give it.
///
/// Memory is read from /proc by `sample`, from time to time: no request has a file read.
package final class ProcessMetrics: Sendable {
  private let start: Double
  private let memory = Lock<Double?>(nil)

  package init(time: TimeSource = .system) {
    start = time.timestamp.durationSince1970.inSeconds
    sample()
  }

  /// Reads what is told from then on.
  package func sample() {
    // proc_pid_statm(5): in pages, the second number is what is resident.
    let numbers = SystemFile.text(at: "/proc/self/statm")?.split(separator: " ")
    let pages = numbers?.dropFirst().first.flatMap { Double($0) }
    memory.withLock { $0 = pages.map { $0 * Double(sysconf(CInt(_SC_PAGESIZE))) } }
  }

  var families: [MetricFamily] {
    var families: [MetricFamily] = [
      .info("dialtone_build_info", "The version of Dialtone", ["version": DialtoneLibraryVersion.current.description]),
      .gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds", start),
    ]
    var clock = timespec()
    // It is written during the call.
    if unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &clock) == 0 {
      families.append(
        .counter(
          "process_cpu_seconds_total", "Total user and system CPU time spent in seconds",
          Double(clock.tv_sec) + Double(clock.tv_nsec) * 1e-9))
    }
    if let bytes = memory.withLock({ $0 }) {
      families.append(
        .gauge("process_resident_memory_bytes", "Resident memory size in bytes", bytes))
    }
    return families
  }
}
