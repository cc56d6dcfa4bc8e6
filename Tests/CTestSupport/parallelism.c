// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Bounds how many tests run at a time. Left alone, Swift Testing begins all of them at once: on two processors each then
// gets a hundredth of one, and limits of time measure the others' work. With a bound, a test's time begins when its turn
// has come, and it has its share of the machine. Enough are under way that those that wait do not hold up the rest.
// A number that the caller has set stands.

#include <stdlib.h>

__attribute__((constructor)) static void bound_parallelism(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "12", 0);
}
