// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What CDialtoneSystem defines itself of the kernel, and what the kernel's headers say of it: two lists in one order.
#ifndef CKERNELDEFINITIONS_H
#define CKERNELDEFINITIONS_H

// A constant, the size of a type, or the offset of a member.
struct kernel_definition {
  const char *_Nonnull name;
  unsigned long value;
};

const struct kernel_definition *_Nonnull own_kernel_definitions(int *_Nonnull count);
const struct kernel_definition *_Nonnull system_kernel_definitions(int *_Nonnull count);

#endif
