// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define TESTS_PER_PROCESSOR 2
#endif
#endif
#ifndef TESTS_PER_PROCESSOR
#define TESTS_PER_PROCESSOR 6
#endif

/// Lets few tests run at a time, before Swift Testing reads how many.
///
/// By itself it starts all of them at once. Two thousand tests that make networks, servers and processes then share two
/// cores: each takes minutes, and no limit in a test says anything about what it tests. Most tests wait for others most
/// of the time: the kernel, a process, a clock.
__attribute__((constructor)) static void limit_width(void) {
  char width[16];
  snprintf(width, sizeof width, "%ld", TESTS_PER_PROCESSOR * sysconf(_SC_NPROCESSORS_ONLN));
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
