// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneDiagnosis

/// A diagnosis under way. It can be ended at any time, with the verdict of what was found so far.
final class Explaining: Sendable {
  private let diagnosis: Diagnosis
  private let findings = Lock<[Finding]>([])
  private let task = Lock<Task<Void, Never>?>(nil)

  /// Begins. `take` is called once with the verdict, unless it is ended before.
  init(_ diagnosis: Diagnosis, take: @escaping @Sendable (DiagnosisVerdict) -> Void) {
    self.diagnosis = diagnosis
    let work = Task.detached { [self] in
      for await event in diagnosis {
        switch event {
        case .began: break
        case .finding(let finding): findings.withLock { $0.append(finding) }
        case .verdict(let verdict): if !Task.isCancelled { take(verdict) }
        }
      }
    }
    task.withLock { $0 = work }
  }

  /// Ends it. Returns the verdict so far; `nil` if nothing was found.
  func conclude() -> DiagnosisVerdict? {
    task.withLock { $0 }?.cancel()
    let findings = findings.withLock { $0 }
    if findings.isEmpty { return nil }
    return DiagnosisVerdict(of: diagnosis.subject.text, goal: diagnosis.subject.goal, findings: findings)
  }
}
