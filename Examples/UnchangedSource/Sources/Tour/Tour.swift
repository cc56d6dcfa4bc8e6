// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Unchanged

#if os(Linux) && canImport(Network)
#error("a module of the name Network would disturb other packages")
#endif

@main
struct Tour {
  static func main() async {
    print("flags:", describeConnectivity())
    print("path: ", await firstPath())
  }
}
