# The faults of Scripts/explain-faults. Each row of the table has its name, the causes that are right (the first is the
# best), the target, and what was done; "-" as a cause is nothing wrong. Further words behind the target are options.
# The function play_NAME plays it, in the network of network.bash.

read -r -d '' faults << 'END' || true
# Links
no-such-interface   | no-interface | internet --interface eth7 | An interface is asked for that does not exist.
no-interface        | no-interface | internet | The only interface is gone.
link-down           | link-down | internet | The interface is switched off.
link-down-asked     | link-down | internet --interface w0 | The interface asked for is switched off, and another works.
no-carrier          | no-carrier | internet | The cable is pulled out.
no-carrier-site     | no-carrier | https://site.example/ | The cable is pulled out, and a site is asked about.
no-carrier-ignored  | no-carrier | internet | The cable is pulled out; routes of dead links are ignored.
no-carrier-nexthop  | no-carrier | internet | The cable of a route by a nexthop object is pulled out.
no-carrier-default  | no-carrier | internet | The cable of the default route is pulled out, and another link works.
bridge-port         | no-carrier | internet | The only port of a bridge has no carrier.
bridge-empty        | no-carrier | internet | A bridge has no port.
tun-unserved        | no-carrier | internet | The program of a tunnel has ended.
dormant             | dormant | internet | The interface waits to be let in (802.1X).
loopback-down       | loopback-down | 127.0.0.1:80 | The loopback interface is down.
loopback-own        | loopback-down | 192.0.2.2:80 | The loopback interface is down, and an own address is asked for.
# Addresses
no-address          | no-address | internet | The interface has lost its address.
no-address-ipv6     | no-address | internet -6 | The interface has only a link-local IPv6 address.
link-local-only     | no-address | internet | DHCP has not answered: there is only an address of 169.254/16.
tentative           | no-address | internet -6 | Duplicate address detection does not end.
duplicate           | duplicate-address | internet -6 | The router has this machine's IPv6 address.
lease-expired       | no-address | internet | The lease of the address has expired.
# Rules
rule-unreachable    | rule-refuses | internet | A routing rule of type unreachable comes first.
rule-prohibit       | rule-refuses | internet | A routing rule of type prohibit comes first.
rule-blackhole      | rule-refuses | internet | A routing rule of type blackhole comes first.
rule-port           | rule-refuses | 203.0.113.10:443 | A rule prohibits TCP to port 443.
rule-user           | rule-refuses | internet | A rule prohibits the packets of this user.
rule-destination    | rule-refuses | 203.0.113.10:80 | A rule prohibits packets to the site's network.
rule-ipv6           | rule-refuses | internet -6 | A rule prohibits IPv6.
rule-late           | rule-refuses | internet | A rule behind the main table prohibits what has no route.
# Routes
no-route            | no-route | internet | There is no default route.
no-route-ipv6       | no-route | internet -6 | There is no IPv6 default route.
no-route-mark       | no-route | internet | The default route is for packets with a mark.
no-route-throw      | no-route | internet | A table throws packets back, and no other has a route.
no-route-interface  | no-route | internet --interface w0 | The interface asked for has no route.
nexthop-gone        | no-route | internet | The nexthop object of the default route is deleted.
route-unreachable   | route-refuses | internet | The default route is of type unreachable.
route-prohibit      | route-refuses | internet | The default route is of type prohibit.
route-blackhole     | route-refuses | internet | The default route is of type blackhole.
route-host          | route-refuses | 203.0.113.10:80 | A route to the site alone is a blackhole.
route-ipv6          | route-refuses | internet -6 | The IPv6 default route is of type unreachable.
route-table         | route-refuses | internet | A rule leads to a table whose default is of type prohibit.
kill-switch         | route-refuses | internet | The tunnel's route is gone, and a kill switch stands behind it.
multipath-dead      | route-dead | internet | Both links of a default route with two next hops have no carrier.
# Neighbours
gateway-gone        | gateway-silent | internet | The router has lost its address.
gateway-wrong       | gateway-silent | internet | The default route names a router that does not exist.
gateway-ipv6        | gateway-silent | internet -6 | The IPv6 router does not answer.
gateway-stale       | gateway-silent | https://site.example/ | The router answered a while ago, and is gone now.
gateway-mute        | gateway-silent | internet | The router answers no ARP requests.
host-missing        | silent | 192.0.2.77:80 | The target is on the link, and does not exist.
# Names
name-silent         | name-server-silent | https://site.example/ | The name server does not answer.
name-gone           | name-server-silent | https://site.example/ | The name server's address does not exist.
name-both-silent    | name-server-silent | https://site.example/ | Two name servers do not answer.
name-dropped        | name-server-silent | internet | A firewall on the way drops questions to name servers.
name-closed         | name-server-refuses | https://site.example/ | Nothing listens at the name server.
name-refused        | name-server-refuses | https://site.example/ | The name server answers REFUSED.
name-failing        | name-server-refuses | https://site.example/ | The name server answers SERVFAIL.
name-unknown        | name-unknown | https://nosuch.example/ | The name does not exist.
name-empty          | name-unknown | https://empty.example/ -4 | The name has no address.
name-short          | name-unknown | site | A short name is in none of the search domains.
name-hijacked       | name-hijacked | http://site.example/ | The name server gives each name one address.
name-blocked        | name-hijacked | https://site.example/ | A filter gives the name the address 0.0.0.0.
name-forbidden      | local-firewall | https://site.example/ | This machine's firewall drops questions to name servers.
name-prohibited     | name-server-refuses | https://site.example/ | The router prohibits questions to name servers.
name-first-silent   | name-server-silent | https://site.example/ | The first of two name servers does not answer.
name-aaaa           | name-server-silent | https://site.example/ | The name server does not answer for AAAA records.
name-split          | name-unknown | https://site.example/ | Only the second name server knows the name.
# Large packets
mtu-answers         | path-mtu | https://site.example/ | Large packets from the site vanish.
mtu-requests        | path-mtu | 203.0.113.10:80 | Large packets to the site vanish.
mtu-ipv6            | path-mtu | https://site.example/ -6 | Large IPv6 packets vanish, and nobody says so.
# Connections
refused             | refused | https://site.example/ | Nothing listens on the port.
refused-icmp        | refused | 203.0.113.10:443 | The site refuses by an ICMP message.
prohibited          | prohibited | https://site.example/ | The router rejects the connection.
prohibited-ipv6     | prohibited | https://site.example/ -6 | The router rejects the IPv6 connection.
net-unreachable     | prohibited | 198.51.100.1:80 | The router has no route to the target.
host-unreachable    | prohibited | 203.0.113.77:80 | The router does not find the target on its link.
silent-router       | silent | https://site.example/ | The router drops the connection.
silent-site         | silent | https://site.example/ | The site drops the connection.
silent-ipv6         | silent | https://site.example/ -6 | The site drops the IPv6 connection.
local-drop          | local-firewall | https://site.example/ | This machine's firewall drops what leaves.
local-drop-all      | local-firewall | 203.0.113.10:80 | This machine's firewall drops all that leaves to the site.
local-reject        | local-firewall | https://site.example/ | This machine's firewall rejects what leaves.
local-reset         | local-firewall | https://site.example/ | This machine's firewall answers with a reset.
local-input         | local-firewall | https://site.example/ | This machine's firewall drops the answers.
# Families
ipv6-silent         | family-broken | https://site.example/ | IPv6 is lost behind the router.
ipv6-gateway        | family-broken | https://site.example/ | The IPv6 router does not exist.
ipv6-prohibited     | family-broken | https://site.example/ | The router prohibits IPv6.
ipv4-silent         | family-broken | https://site.example/ | IPv4 is lost behind the router.
ipv6-name-server    | family-broken | https://site.example/ | The name server is behind a dead IPv6 router.
# TLS
certificate-self    | tls-certificate | https://site.example/ | The certificate vouches for itself.
certificate-expired | tls-certificate | https://site.example/ | The certificate has expired.
certificate-early   | tls-certificate | https://site.example/ | The certificate is not valid yet.
certificate-other   | tls-certificate | https://site.example/ | The certificate belongs to another name.
certificate-chain   | tls-certificate | https://site.example/ | A stranger vouches for the certificate.
clock-behind        | clock-wrong | https://site.example/ | The clock is ten years behind.
clock-ahead         | clock-wrong | https://site.example/ | The clock is ten years ahead.
tls-closed          | site-fault | https://site.example/ | The site closes the connection instead of TLS.
tls-plain           | site-fault | https://site.example/ | The site speaks no TLS on its port.
# Answers
portal              | captive-portal | http://site.example/ | A portal redirects to its login.
portal-511          | captive-portal | http://site.example/ | A portal answers 511.
site-503            | site-fault | https://site.example/ | The site answers 503.
site-500            | site-fault | http://site.example/ | The site answers 500.
site-mute           | site-fault | http://site.example/ | The site takes the request, and does not answer.
site-mute-tls       | site-fault | https://site.example/ | The site takes the connection, and says nothing.
site-garbage        | site-fault | http://site.example/ | The site's answer is no HTTP.
# Proxies and tunnels
proxy-refused       | proxy-unreachable | https://site.example/ | Nothing listens at the proxy.
proxy-silent        | proxy-unreachable | https://site.example/ | The proxy does not answer.
proxy-unknown       | proxy-unreachable | https://site.example/ | The name of the proxy does not exist.
tunnel-dead         | tunnel-silent | 203.0.113.10:80 | The far end of a tunnel takes no packets.
# Written after the rules, to try them on what they had not seen
reverse-path        | local-firewall | https://site.example/ | Answers come in by another link; rp_filter drops them.
name-reverse-path   | local-firewall | https://site.example/ | The name server's answers come in by another link.
name-input          | local-firewall | https://site.example/ | This machine's firewall drops what name servers answer.
name-slow           | name-server-silent | https://site.example/ | The name server takes eight seconds.
name-no-server      | name-server-refuses | https://site.example/ | No name server is configured, and none runs here.
name-tcp-dropped    | name-server-refuses | https://site.example/ | Its answers need TCP, which the router drops.
site-six-only       | no-address no-route | https://six.example/ | The name has IPv6 alone, this machine has none.
hosts-stale         | prohibited silent | https://site.example/ | The hosts file has an address that nobody has.
default-halves      | route-refuses | internet | Blackholes of half the Internet each stand before the default.
mask-wide           | silent | 203.0.113.10:80 | The network mask is too wide: the target counts as a neighbour.
loop                | prohibited | 198.51.100.1:80 | Two routers send the packet to each other until it dies.
ports-exhausted     | unknown | 203.0.113.10:80 | This machine has no port left to connect from.
clock-days-behind   | clock-wrong | https://site.example/ | The clock is five days behind.
clock-days-ahead    | clock-wrong tls-certificate | https://site.example/ | The clock is sixty days ahead.
tls-version         | site-fault | https://site.example/ | The site shares no version of TLS with others.
site-hangs-up       | site-fault | http://site.example/ | The site reads the request, and hangs up.
proxy-nameless      | proxy-unreachable | http://203.0.113.10/ | No name server answers for the name of the proxy.
answer-lost         | silent | https://site.example/ | The router drops what the site answers.
# Nothing wrong
fine-truncated      | - | https://site.example/ | Nothing is wrong: the name server's answers need TCP.
fine-late           | - | https://site.example/ | Nothing is wrong: the name server takes two seconds.
fine-slow           | - | http://site.example/ --timeout 20 | Nothing is wrong: the site takes five seconds.
fine-redirect       | - | http://site.example/ | Nothing is wrong: the site sends browsers to its other name.
fine-two-addresses  | - | https://site.example/ | Nothing is wrong with one of two addresses.
fine-rules          | - | 203.0.113.10:80 | Nothing is wrong: a rule leads to a table of its own.
hurried             | unknown | https://site.example/ --timeout 0.3s | The name server takes longer than the time-out.
fine-internet       | - | internet | Nothing is wrong.
fine-https          | - | https://site.example/ | Nothing is wrong.
fine-http           | - | http://site.example/ | Nothing is wrong.
fine-host           | - | site.example | Nothing is wrong; the site has no service on port 443.
fine-address        | - | 203.0.113.10:80 | Nothing is wrong.
fine-both           | - | https://site.example/ | Nothing is wrong, in both families.
fine-404            | - | https://site.example/ | Nothing is wrong with the network: the page does not exist.
fine-local          | - | 127.0.0.1:8080 | Nothing is wrong on this machine.
END

read -r -d '' combinations << 'END' || true
two-carrier-name    | no-carrier | https://site.example/ | The cable is pulled out, and the name server lies.
two-address-gateway | no-address | https://site.example/ | The address is lost, and so is the router.
two-rule-route      | rule-refuses | internet | A rule prohibits, and the default route is a blackhole.
two-route-name      | no-route | https://site.example/ | There is no default route, and the site's certificate is bad.
two-gateway-name    | gateway-silent | https://site.example/ | The router is gone, and so is the name server.
two-gateway-tls     | gateway-silent | https://site.example/ | The router is gone, and the site's certificate is bad.
two-name-refused    | name-server-silent | https://site.example/ | The name server is silent, and the site is, too.
two-name-portal     | name-hijacked | http://site.example/ | The name server lies, and a portal answers.
two-refused-proxy   | refused | https://site.example/ | The site listens on no port, and the proxy is gone.
two-tls-proxy       | tls-certificate | https://site.example/ | The certificate is bad, and so is the proxy.
two-ipv6-unknown    | name-unknown | https://nosuch.example/ | The IPv6 router is gone, and the name does not exist.
two-ipv6-silent     | name-server-silent | https://site.example/ | The IPv6 router is gone, the name server silent.
two-ipv6-tls        | tls-certificate | https://site.example/ | The IPv6 router is gone, and the certificate is bad.
END

play_no_such_interface() { :; }
play_no_interface() { ip link delete eth0; }
play_link_down() { ip link set eth0 down; }
play_link_down_asked() { second_link; ip link set w0 down; }
play_no_carrier() { on_router ip link set near down; await has_no_carrier eth0; }
play_no_carrier_site() { usual; play_no_carrier; }
play_no_carrier_ignored() { sysctl -qw net.ipv4.conf.all.ignore_routes_with_linkdown=1; play_no_carrier; }
play_no_carrier_nexthop() {
  ip nexthop add id 7 via 192.0.2.1 dev eth0
  ip route replace default nhid 7
  play_no_carrier
}
play_no_carrier_default() {
  second_link
  ip route replace default via 192.0.3.1 dev w0
  on_router ip link set wide down
  await has_no_carrier w0
}
play_bridge_port() {
  ip address flush dev eth0
  ip link add br0 type bridge
  ip link set eth0 master br0
  ip link set br0 up
  ip address add 192.0.2.2/24 dev br0
  ip route add default via 192.0.2.1
  on_router ip link set near down
  await has_no_carrier br0
}
play_bridge_empty() {
  ip link delete eth0
  ip link add br0 type bridge
  ip link set br0 up
  ip address add 192.0.2.2/24 dev br0
  ip route add default via 192.0.2.1
}
play_tun_unserved() {
  ip tuntap add dev tun0 mode tun
  ip link set tun0 up
  ip address add 10.8.0.2/24 dev tun0
  ip route replace default dev tun0
}
play_dormant() { ip link set eth0 mode dormant; ip link set eth0 state dormant; await is_dormant eth0; }
play_loopback_down() { ip link set lo down; }
play_loopback_own() { ip link set lo down; }

play_no_address() { ip address flush dev eth0; }
play_no_address_ipv6() { await sh -c 'ip -6 address show dev eth0 | grep -q fe80'; }
play_link_local_only() {
  ip address flush dev eth0
  ip address add 169.254.7.7/16 dev eth0
  ip route add default dev eth0 scope link metric 1000
  ip route delete default
}
play_tentative() {
  sysctl -qw net.ipv6.conf.eth0.accept_dad=1 net.ipv6.conf.eth0.dad_transmits=600
  ip address add 2001:db8:1::2/64 dev eth0
  ip -6 route add default via 2001:db8:1::1 dev eth0
}
play_duplicate() {
  on_router ip address add 2001:db8:1::2/64 dev near nodad
  sysctl -qw net.ipv6.conf.eth0.accept_dad=1 net.ipv6.conf.eth0.dad_transmits=1
  ip address add 2001:db8:1::2/64 dev eth0
  ip -6 route add default via 2001:db8:1::1 dev eth0
  await sh -c 'ip -6 address show dev eth0 | grep -q dadfailed'
}
play_lease_expired() {
  ip address flush dev eth0
  ip address add 192.0.2.2/24 dev eth0 valid_lft 1 preferred_lft 1
  await sh -c '! ip -4 address show dev eth0 | grep -q 192.0.2.2'
}

play_rule_unreachable() { ip rule add pref 100 unreachable; }
play_rule_prohibit() { ip rule add pref 100 prohibit; }
play_rule_blackhole() { ip rule add pref 100 blackhole; }
play_rule_port() { usual; ip rule add pref 100 ipproto tcp dport 443 prohibit; }
play_rule_user() { ip rule add pref 100 uidrange "$(id -u)-$(id -u)" prohibit; }
play_rule_destination() { ip rule add pref 100 to 203.0.113.0/24 prohibit; }
play_rule_ipv6() { use_ipv6; ip -6 rule add pref 100 prohibit; }
play_rule_late() { ip route delete default; ip rule add pref 40000 prohibit; }

play_no_route() { ip route delete default; }
play_no_route_ipv6() { use_ipv6; ip -6 route delete default; }
play_no_route_mark() {
  ip route delete default
  ip route add default via 192.0.2.1 table 201
  ip rule add pref 100 fwmark 7 lookup 201
}
play_no_route_throw() {
  ip route delete default
  ip route add throw default table 201
  ip rule add pref 100 lookup 201
}
play_no_route_interface() { second_link; }
play_nexthop_gone() {
  ip nexthop add id 7 via 192.0.2.1 dev eth0
  ip route replace default nhid 7
  ip nexthop delete id 7
}
play_route_unreachable() { ip route delete default; ip route add unreachable default; }
play_route_prohibit() { ip route delete default; ip route add prohibit default; }
play_route_blackhole() { ip route delete default; ip route add blackhole default; }
play_route_host() { usual; ip route add blackhole 203.0.113.10; }
play_route_ipv6() { use_ipv6; ip -6 route delete default; ip -6 route add unreachable default metric 10; }
play_route_table() { ip route add prohibit default table 201; ip rule add pref 100 lookup 201; }
play_kill_switch() {
  ip route delete default
  ip route add unreachable default metric 4000
}
play_multipath_dead() {
  second_link
  ip route replace default nexthop via 192.0.2.1 dev eth0 nexthop via 192.0.3.1 dev w0
  on_router ip link set near down
  on_router ip link set wide down
  await has_no_carrier eth0
  await has_no_carrier w0
}

# The name server has an address of its own, which goes with the router's: both are of one subnet.
lose_router() {
  on_router ip address delete 192.0.2.1/24 dev near
  on_router ip address replace 192.0.2.53/24 dev near
}
play_gateway_gone() { usual; lose_router; }
play_gateway_wrong() { usual; ip route replace default via 192.0.2.99; }
play_gateway_ipv6() { use_ipv6; ip -6 route delete default; ip -6 route add default via 2001:db8:1::99 dev eth0; }
play_gateway_stale() {
  usual
  await timeout 5 bash -c 'exec 3<> /dev/tcp/203.0.113.10/80'
  # The name server has an address of its own on the link, and stays.
  ip neighbour replace 192.0.2.1 dev eth0 lladdr 02:00:00:00:00:99 nud stale
  lose_router
}
play_gateway_mute() {
  on_router nft add table arp f
  on_router nft add chain arp f input '{ type filter hook input priority 0; }'
  on_router nft add rule arp f input drop
}
play_host_missing() { usual; }

play_name_silent() { usual_sites; name_server silent; }
play_name_gone() { usual_sites; echo "nameserver 192.0.2.99" > /etc/resolv.conf; }
play_name_both_silent() {
  usual_sites
  name_server silent
  printf 'nameserver 192.0.2.53\nnameserver 198.51.100.53\n' > /etc/resolv.conf
  on_router ip route add 198.51.100.0/24 via 203.0.113.10
  filter on_router forward ip daddr 198.51.100.53 drop
}
play_name_dropped() { name_server honest; filter on_router input udp dport 53 drop; }
play_name_closed() { usual_sites; }
play_name_refused() { usual_sites; name_server refused; }
play_name_failing() { usual_sites; name_server failing; }
play_name_unknown() { usual; }
# The name exists, and has an address of the other family alone.
play_name_empty() { name_server honest empty.example=2001:db8::1; }
play_name_short() { usual; printf 'nameserver 192.0.2.53\nsearch wrong.example\n' > /etc/resolv.conf; }
play_name_hijacked() {
  serve 80 ok
  on_site ip address add 203.0.113.66/24 dev eth0
  name_server lying any=203.0.113.66
}
play_name_blocked() { usual_sites; name_server honest site.example=0.0.0.0; }
play_name_forbidden() { usual; filter here output udp dport 53 drop; }
play_name_prohibited() {
  usual_sites
  echo "nameserver 203.0.113.53" > /etc/resolv.conf
  filter on_router forward udp dport 53 reject with icmpx type admin-prohibited
}
play_name_first_silent() { usual; printf 'nameserver 192.0.2.99\nnameserver 192.0.2.53\n' > /etc/resolv.conf; }
play_name_aaaa() { usual_sites; name_server no-aaaa; }
play_name_split() {
  usual_sites
  name_server honest other.example=203.0.113.10
  on_router ip address add 192.0.2.54/24 dev near
  start_server on_router dns 192.0.2.54 honest site.example=203.0.113.10
  printf 'nameserver 192.0.2.53\nnameserver 192.0.2.54\n' > /etc/resolv.conf
}
usual_sites() { serve 80 ok; serve 443 ok site; }

play_mtu_answers() { usual; filter on_router forward ip saddr 203.0.113.10 meta length '>' 1280 drop; }
play_mtu_requests() { usual; filter on_router forward ip daddr 203.0.113.10 meta length '>' 1280 drop; }
play_mtu_ipv6() {
  use_ipv6
  serve 443 ok site
  name_server honest site.example=2001:db8:2::10
  filter on_router forward ip6 saddr 2001:db8:2::10 meta length '>' 1280 drop
}

play_refused() { name_server honest; serve 80 ok; }
play_refused_icmp() { usual; filter on_site input tcp dport 443 reject with icmpx type port-unreachable; }
play_prohibited() { usual; filter on_router forward tcp dport 443 reject with icmpx type admin-prohibited; }
play_prohibited_ipv6() {
  use_ipv6
  serve 443 ok site
  name_server honest site.example=2001:db8:2::10
  filter on_router forward tcp dport 443 reject with icmpx type admin-prohibited
}
play_net_unreachable() { usual; }
play_host_unreachable() { usual; }
play_silent_router() { usual; filter on_router forward tcp dport 443 drop; }
play_silent_site() { usual; filter on_site input tcp dport 443 drop; }
play_silent_ipv6() {
  use_ipv6
  serve 443 ok site
  name_server honest site.example=2001:db8:2::10
  filter on_site input tcp dport 443 drop
}
play_local_drop() { usual; filter here output tcp dport 443 drop; }
play_local_drop_all() { usual; filter here output ip daddr 203.0.113.10 drop; }
play_local_reject() { usual; filter here output tcp dport 443 reject with icmpx type admin-prohibited; }
play_local_reset() { usual; filter here output tcp dport 443 reject with tcp reset; }
play_local_input() { usual; filter here input tcp sport 443 drop; }

both_families() {
  use_ipv6
  usual_sites
  name_server honest site.example=203.0.113.10 site.example=2001:db8:2::10
}
play_ipv6_silent() { both_families; filter on_router forward meta nfproto ipv6 drop; }
lose_ipv6_router() { ip -6 route delete default; ip -6 route add default via 2001:db8:1::99 dev eth0; }
play_ipv6_gateway() { both_families; lose_ipv6_router; }
play_ipv6_prohibited() {
  both_families
  filter on_router forward meta nfproto ipv6 reject with icmpx type admin-prohibited
}
play_ipv6_name_server() { both_families; lose_ipv6_router; echo "nameserver 2001:db8:2::53" > /etc/resolv.conf; }
play_ipv4_silent() { both_families; filter on_router forward meta nfproto ipv4 drop; }

play_certificate_self() { name_server honest; serve 443 ok self-signed; }
play_certificate_expired() { name_server honest; serve 443 ok expired; }
play_certificate_early() { name_server honest; serve 443 ok early; }
play_certificate_other() { name_server honest; serve 443 ok other; }
play_certificate_chain() { name_server honest; serve 443 ok stranger; }
play_clock_behind() { usual; preload=$certificates/clock.so; export CLOCK_OFFSET=-315360000; }
play_clock_ahead() { usual; preload=$certificates/clock.so; export CLOCK_OFFSET=315360000; }
play_tls_closed() { name_server honest; serve 443 closing; }
play_tls_plain() { name_server honest; serve 443 ok; }

play_portal() { name_server honest; serve 80 portal; }
play_portal_511() { name_server honest; serve 80 login; }
play_site_503() { name_server honest; serve 443 failing site; }
play_site_500() { name_server honest; serve 80 broken; }
play_site_mute() { name_server honest; serve 80 mute; }
play_site_mute_tls() { name_server honest; serve 443 mute; }
play_site_garbage() { name_server honest; serve 80 garbage; }

play_proxy_refused() { usual; export https_proxy=http://203.0.113.10:3128; }
play_proxy_silent() { usual; filter on_site input tcp dport 3128 drop; export https_proxy=http://203.0.113.10:3128; }
play_proxy_unknown() { usual; export https_proxy=http://proxy.nosuch.example:3128; }
play_tunnel_dead() {
  usual
  ip link add vpn0 type vxlan id 7 dstport 4789 remote 198.51.100.9 local 192.0.2.2
  ip link set vpn0 arp off
  ip link set vpn0 up
  ip address add 10.8.0.2/24 dev vpn0
  ip route add 198.51.100.9 via 192.0.2.1
  ip route replace default dev vpn0
}

play_reverse_path() { echo "203.0.113.10 site.example" > /etc/hosts; play_name_reverse_path; }
play_name_reverse_path() {
  usual
  second_link
  # On the way back.
  on_router sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.near.rp_filter=0
  # Else it would ask for the next hop in the name of an address of the other link, and get no answer.
  on_router sysctl -qw net.ipv4.conf.wide.arp_announce=2
  on_router ip route add 192.0.2.2 via 192.0.3.2 dev wide
  sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.w0.rp_filter=1
}
play_name_input() { usual; filter here input udp sport 53 drop; }
play_name_slow() { usual_sites; name_server slow=8; }
play_name_no_server() { usual_sites; : > /etc/resolv.conf; ip link set lo up; }
play_name_tcp_dropped() { usual_sites; name_server truncated; filter on_router input tcp dport 53 drop; }
play_site_six_only() { usual_sites; name_server honest six.example=2001:db8:2::10; }
play_hosts_stale() { usual; echo "203.0.113.99 site.example" > /etc/hosts; }
play_default_halves() { usual; ip route add blackhole 0.0.0.0/1; ip route add blackhole 128.0.0.0/1; }
play_mask_wide() { usual; ip address replace 192.0.2.2/1 dev eth0; ip address delete 192.0.2.2/24 dev eth0; }
play_loop() {
  usual
  on_router ip route add 198.51.100.0/24 via 203.0.113.10
  on_site sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0
}
play_ports_exhausted() {
  usual
  sysctl -qw net.ipv4.ip_local_port_range="40000 40003"
  exec {first}<> /dev/tcp/203.0.113.10/80 {second}<> /dev/tcp/203.0.113.10/80
  exec {third}<> /dev/tcp/203.0.113.10/80 {fourth}<> /dev/tcp/203.0.113.10/80
}
play_clock_days_behind() { usual; preload=$certificates/clock.so; export CLOCK_OFFSET=-432000; }
play_clock_days_ahead() { usual; preload=$certificates/clock.so; export CLOCK_OFFSET=5184000; }
play_tls_version() { name_server honest; serve 443 old-tls; }
play_site_hangs_up() { name_server honest; serve 80 hanging-up; }
play_proxy_nameless() { usual_sites; name_server silent; export http_proxy=http://proxy.example:3128; }
play_answer_lost() { usual; filter on_router forward ip saddr 203.0.113.10 drop; }

play_fine_truncated() { usual_sites; name_server truncated; }
play_fine_late() { usual_sites; name_server slow=2; }
play_fine_slow() { name_server honest; serve 80 slow; }
play_fine_redirect() { name_server honest; serve 80 www; }
play_fine_two_addresses() {
  usual_sites
  name_server honest site.example=203.0.113.77 site.example=203.0.113.10
}
play_fine_rules() {
  usual
  ip route add 203.0.113.0/24 via 192.0.2.1 table 201
  ip rule add pref 100 to 203.0.113.0/24 lookup 201
  ip route delete default
}
play_hurried() { usual_sites; name_server slow=2; }

play_fine_internet() { usual; }
play_fine_https() { usual; }
play_fine_http() { usual; }
play_fine_host() { name_server honest; serve 80 ok; }
play_fine_address() { usual; }
play_fine_both() { both_families; }
play_fine_404() { name_server honest; serve 443 missing site; }
play_fine_local() { start_server here site 8080 ok; }

play_two_carrier_name() { name_server lying any=203.0.113.66; play_no_carrier; }
play_two_address_gateway() { usual; ip address flush dev eth0; on_router ip address flush dev near; }
play_two_rule_route() { ip route delete default; ip route add blackhole default; ip rule add pref 100 prohibit; }
play_two_route_name() { name_server honest; serve 443 ok self-signed; ip route delete default; }
play_two_gateway_name() { echo "nameserver 203.0.113.53" > /etc/resolv.conf; on_router ip address flush dev near; }
play_two_gateway_tls() { serve 443 ok self-signed; name_server honest; ip route replace default via 192.0.2.99; }
play_two_name_refused() { name_server silent; }
play_two_name_portal() {
  serve 80 portal
  on_site ip address add 203.0.113.66/24 dev eth0
  name_server lying any=203.0.113.66
}
play_two_refused_proxy() { name_server honest; export https_proxy=http://203.0.113.10:3128; }
play_two_tls_proxy() { name_server honest; serve 443 ok self-signed; export https_proxy=http://203.0.113.10:3128; }
play_two_ipv6_unknown() { both_families; lose_ipv6_router; }
play_two_ipv6_silent() { use_ipv6; lose_ipv6_router; usual_sites; name_server silent; }
play_two_ipv6_tls() {
  name_server honest site.example=203.0.113.10 site.example=2001:db8:2::10
  serve 443 ok self-signed
  use_ipv6
  lose_ipv6_router
}
