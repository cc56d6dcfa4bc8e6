// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

// The POSIX strerror_r, not GNU's, which has another result: so _GNU_SOURCE stays off here.
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#include "CNetworkLab.h"

#include <stdio.h>
#include <string.h>

void lab_describe_errno(int error, char *text, size_t capacity) {
  if (strerror_r(error, text, capacity) != 0) snprintf(text, capacity, "errno %d", error);
}

#endif
