// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)
#include "../../Sources/CDialtoneSystem/KernelDefinitions.h"
#include "list.inc"

const struct kernel_definition *own_kernel_definitions(int *count) {
  *count = sizeof definitions / sizeof *definitions;
  return definitions;
}
#endif
