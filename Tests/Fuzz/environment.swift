// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem

/// The value of a variable of the environment.
func environment(_ name: String) -> String? {
  // libFuzzer runs one thread, and nothing sets variables.
  unsafe getenv(name).map { unsafe String(cString: $0) }
}
