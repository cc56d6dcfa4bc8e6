// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What tests need of the C library, where Swift does not reach it.

#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

#if defined(__linux__)

#include <sys/types.h>

/// From now on Swift Testing keeps no backtrace of each error that is thrown in this process: for tests of memory, in
/// processes of their own.
void ctestsupport_keep_no_backtraces(void);
/// fork(2), which Swift does not let anybody call: for processes of their own.
pid_t ctestsupport_fork(void);
/// Waits for a child. Its exit status; 128 and the signal where one ended it, -1 where there is no such child.
int ctestsupport_wait(pid_t child);
/// Gives back to the system what the allocator keeps of what was freed.
void ctestsupport_trim_heap(void);
/// How many bytes of the heap are in use, in all of the allocator's arenas; -ENOTSUP where the C library does not count them.
ssize_t ctestsupport_heap_in_use(void);

#endif

#endif
