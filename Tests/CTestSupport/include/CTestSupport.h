// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What tests need of the C library and Swift does not offer.

#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

#if defined(__linux__)

#include <sys/types.h>

/// From now on Swift Testing keeps no backtrace of each error thrown in this process. For tests of memory, in processes
/// of their own.
void ctestsupport_keep_no_backtraces(void);
/// fork(2), which Swift marks as unavailable. For processes of their own.
pid_t ctestsupport_fork(void);
/// Waits for a child. Returns its exit status, 128 plus the signal if one ended it, -1 if there is no such child.
int ctestsupport_wait(pid_t child);
/// Gives freed memory that the allocator keeps back to the system.
void ctestsupport_trim_heap(void);
/// The number of bytes of the heap in use, in all of the allocator's arenas; -ENOTSUP if the C library does not count
/// them.
ssize_t ctestsupport_heap_in_use(void);

#endif

#endif
