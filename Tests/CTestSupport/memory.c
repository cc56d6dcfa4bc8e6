// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CTestSupport.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

void ctestsupport_keep_no_backtraces(void) {
  // Pointers to functions that the runtime calls for each error thrown, unless they are null (swift/Runtime/Debug.h).
  const char *hooks[] = {"_swift_willThrow", "_swift_willThrowTypedImpl"};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
    _Atomic(void *) *hook = dlsym(RTLD_DEFAULT, hooks[i]);
    if (hook) atomic_store(hook, NULL);
  }
}

void ctestsupport_trim_heap(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

ssize_t ctestsupport_heap_in_use(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  struct mallinfo2 info = mallinfo2();
  return (ssize_t)(info.uordblks + info.hblkhd);
#else
  return -ENOTSUP;
#endif
}

#endif
