// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Bounds how many tests run at a time. By default Swift Testing begins all of them at once. On two processors each then
// gets a hundredth of one, and time limits measure the work of other tests. With a bound, a test's time begins with its
// turn, and it gets its share of the machine. The bound is large enough that tests that wait do not hold up the rest. A
// number set by the caller stays.

#include <stdlib.h>

__attribute__((constructor)) static void bound_parallelism(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "12", 0);
}
