// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A file that was named and cannot be read (EX_NOINPUT, sysexits.h).
struct InputError: Error, CustomStringConvertible {
  let description: String
}
