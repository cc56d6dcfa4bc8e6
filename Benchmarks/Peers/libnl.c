// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// libnl's cache manager with a cache of routes. Without an argument it tells of each change of the default route, as
// the peers do; with `once` it ends when its cache is filled, and with `first` it tells how many nanoseconds that
// took.
#include <netlink/cache.h>
#include <netlink/netlink.h>
#include <netlink/route/route.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void say(int64_t value) {
  if (write(1, &value, sizeof value) < 0) _exit(1);
}

static void tell(void) { say(now()); }

static void changed(struct nl_cache *cache, struct nl_object *object, int action, void *nothing) {
  (void)cache, (void)action, (void)nothing;
  struct rtnl_route *route = (struct rtnl_route *)object;
  struct nl_addr *destination = rtnl_route_get_dst(route);
  int is_default = destination == NULL || nl_addr_get_prefixlen(destination) == 0;
  if (rtnl_route_get_family(route) == AF_INET && is_default) tell();
}

int main(int count, char **arguments) {
  int64_t begin = now();
  struct nl_cache_mngr *manager;
  struct nl_cache *cache;
  if (nl_cache_mngr_alloc(NULL, NETLINK_ROUTE, NL_AUTO_PROVIDE, &manager) < 0) return 1;
  if (nl_cache_mngr_add(manager, "route/route", changed, NULL, &cache) < 0) return 1;
  if (count > 1 && strcmp(arguments[1], "first") == 0) say(now() - begin);
  if (count > 1) return 0;
  tell();
  for (;;)
    if (nl_cache_mngr_poll(manager, -1) < 0) return 1;
}
