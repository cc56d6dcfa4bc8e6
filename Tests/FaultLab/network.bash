# The network in which a fault is played; sourced by Tests/FaultLab/play.
#
# Three machines in a row: this one, a router with a name server, and the site's.
#   eth0 192.0.2.2    ── 192.0.2.1     router 203.0.113.1   ── 203.0.113.10   site
#   eth0 2001:db8:1::2 ── 2001:db8:1::1        2001:db8:2::1 ── 2001:db8:2::10      (after use_ipv6)
# The name server is 192.0.2.53, on the router. Files of /etc are this network's own.

make_network() {
  mount --make-rprivate /
  local file
  for file in hosts resolv.conf nsswitch.conf; do
    : > "$file"
    mount --bind "$file" "/etc/$file"
  done
  echo "hosts: files dns" > /etc/nsswitch.conf
  echo "nameserver 192.0.2.53" > /etc/resolv.conf
  mkfifo ready
  start_machine
  router=$!
  start_machine
  site=$!
  pids=("$router" "$site")
  trap 'kill "${pids[@]}" 2> /dev/null || true' EXIT
  ip link set lo up
  ip link add eth0 type veth peer name near netns "$router"
  on_router ip link add far type veth peer name eth0 netns "$site"
  # Duplicate addresses are looked for only where a fault is about that.
  local machine
  for machine in here on_router on_site; do
    "$machine" sh -c 'for file in /proc/sys/net/ipv6/conf/*/accept_dad; do echo 0 > "$file"; done'
    "$machine" sh -c 'echo 0 > /proc/sys/net/ipv4/icmp_ratelimit; echo 0 > /proc/sys/net/ipv6/icmp/ratelimit'
  done
  ip link set eth0 up
  ip address add 192.0.2.2/24 dev eth0
  on_router ip link set lo up
  on_router ip link set near up
  on_router ip link set far up
  on_router ip address add 192.0.2.1/24 dev near
  on_router ip address add 192.0.2.53/24 dev near
  on_router ip address add 203.0.113.1/24 dev far
  on_router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
  on_site ip link set lo up
  on_site ip link set eth0 up
  on_site ip address add 203.0.113.10/24 dev eth0
  on_site ip route add default via 203.0.113.1
  ip route add default via 192.0.2.1
  unset http_proxy https_proxy HTTPS_PROXY no_proxy NO_PROXY
  export SSL_CERT_FILE=$certificates/authority.pem
}

# Starts a process with a network of its own, which is there once this returns; $! is the process's number.
start_machine() {
  unshare --net sh -c 'echo > ready; exec sleep infinity' &
  read -r -t 60 <> ready
}

here() { "$@"; }
on_router() { nsenter --target "$router" --net -- "$@"; }
on_site() { nsenter --target "$site" --net -- "$@"; }

# Waits for a condition, at most a minute.
await() {
  local tries=0
  until "$@"; do
    ((tries += 1))
    [[ $tries -le 3000 ]] || { echo "waited in vain: $*" >&2; exit 1; }
    sleep 0.02
  done
}

start_server() {
  local where=$1 ready
  shift
  ready=$PWD/ready.$RANDOM$RANDOM
  "$where" python3 "$lab/servers.py" "$1" "$ready" "${@:2}" &
  pids+=($!)
  await test -e "$ready"
}

# name_server MODE [NAME=ADDRESS…]: the router's name server. Without names it knows the site's.
name_server() {
  local mode=$1
  shift
  [[ $# -gt 0 ]] || set -- site.example=203.0.113.10
  start_server on_router dns 192.0.2.53 "$mode" "$@"
}

# serve PORT MODE [CERTIFICATE]: the site's server.
serve() { start_server on_site site "$1" "$2" ${3:+"$certificates/$3.pem" "$certificates/key.pem"}; }

# What works without a fault: name server and site.
usual() {
  name_server honest
  serve 80 ok
  serve 443 ok site
}

use_ipv6() {
  ip address add 2001:db8:1::2/64 dev eth0 nodad
  on_router ip address add 2001:db8:1::1/64 dev near nodad
  on_router ip address add 2001:db8:2::1/64 dev far nodad
  on_site ip address add 2001:db8:2::10/64 dev eth0 nodad
  on_site ip -6 route add default via 2001:db8:2::1
  ip -6 route add default via 2001:db8:1::1
}

# A second link of this machine: w0 192.0.3.2 ── 192.0.3.1 router.
second_link() {
  ip link add w0 type veth peer name wide netns "$router"
  ip link set w0 up
  on_router ip link set wide up
  ip address add 192.0.3.2/24 dev w0
  on_router ip address add 192.0.3.1/24 dev wide
}

# filter MACHINE HOOK RULE…: a rule of nftables.
filter() {
  local machine=$1 hook=$2
  shift 2
  "$machine" nft add table inet "f$hook"
  "$machine" nft add chain inet "f$hook" "$hook" "{ type filter hook $hook priority 0; }"
  "$machine" nft add rule inet "f$hook" "$hook" "$@"
}

has_no_carrier() { ip link show "$1" | grep -q NO-CARRIER; }
is_dormant() { ip link show "$1" | grep -q 'state DORMANT'; }
