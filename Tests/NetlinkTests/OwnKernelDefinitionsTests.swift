// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CKernelDefinitions
import Testing

/// What is defined for systems without the kernel's headers equals what those headers say.
struct OwnKernelDefinitionsTests {
  @Test func equalThoseOfTheKernelsHeaders() {
    let own = unsafe read(own_kernel_definitions)
    let kernels = unsafe read(system_kernel_definitions)
    #expect(own.count >= 40)
    #expect(own.count == kernels.count)
    for (own, kernels) in zip(own, kernels) {
      #expect(own.name == kernels.name)
      #expect(own.value == kernels.value, "\(own.name)")
    }
  }

  private func read(
    _ list: (UnsafeMutablePointer<CInt>) -> UnsafePointer<kernel_definition>
  ) -> [(name: String, value: UInt)] {
    var count: CInt = 0
    // An array of that many elements, whose names are literals.
    let first = unsafe list(&count)
    return unsafe UnsafeBufferPointer(start: first, count: Int(count)).map { definition in
      (unsafe String(cString: definition.name), unsafe definition.value)
    }
  }
}
#endif
