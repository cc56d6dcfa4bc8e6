# IPv6 alone on Wi-Fi: router advertisements, temporary addresses, and the IPv4 Internet behind NAT64.
radios 2
access_point wlan1 ap home
must ip -n ap address add 2001:db8:7::1/64 dev wlan1 nodad
must sysctl -w net.ipv6.conf.wlan0.use_tempaddr=2
echo 'nameserver 2001:db8:7::1' > /etc/resolv.conf
watch internet internet
watch literal 198.51.100.7
watch without --no-nat64 198.51.100.7
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END
expect literal << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "associated; nobody advertises a router"
station home "$key"
eventually is_associated
eventually has_address fe80:
expect internet << 'END'
  unreachable            -- -------  wlan0/wifi  because no-carrier
  ? requires-connection  -R -cC----  wlan0/wifi  because dormant
  unreachable            -- -------  -           because no-route
END

step "a router, its prefix, and a name server that knows the prefix of NAT64"
must ip netns exec ap dnsmasq --conf-file=/dev/null --user=root --no-resolv --no-hosts --interface=wlan1 --enable-ra \
  --dhcp-range=2001:db8:7::,ra-only --address=/ipv4only.arpa/64:ff9b::192.0.0.170 --dhcp-leasefile="$state/leases" \
  --log-facility="$state/router.log" --pid-file="$state/router.pid"
eventually has_address 2001:db8:7: temporary
eventually has_address 2001:db8:7: mngtmpaddr
expect internet << 'END'
  ? unreachable        -- -------  wlan0/wifi  because no-address
  reachable            -R -------  wlan0/wifi  via fe80::ff:fe00:100
END
expect literal << 'END'
  unreachable            -- -------  wlan0/wifi  because no-carrier
  ? requires-connection  -R -cC----  wlan0/wifi  because dormant
  unreachable            -- -------  -           because no-route
  ? undetermined         -- -------  -
  reachable              -R -------  wlan0/wifi  via fe80::ff:fe00:100
END
expect without << 'END'
  unreachable            -- -------  wlan0/wifi  because link-down
  unreachable            -- -------  wlan0/wifi  because no-carrier
  ? requires-connection  -R -cC----  wlan0/wifi  because dormant
  unreachable            -- -------  -           because no-route
END

step "packets come from the temporary address; when it is deprecated, from the other one, and nothing has changed"
temporary=$(ip -6 -oneline address show dev wlan0 temporary | sed -n 's/.*inet6 \([^/]*\).*/\1/p')
comes_from() { [[ $(dialtone status --json internet) == *"\"source\":\"$1\""* ]]; }
must comes_from "$temporary"
# The router's next advertisement would make the address preferred again.
must sysctl -w net.ipv6.conf.wlan0.accept_ra_pinfo=0
must ip address change "$temporary/64" dev wlan0 preferred_lft 0 valid_lft 1000
must comes_from 2001:db8:7::ff:fe00:0
expect_nothing internet
expect_nothing literal

step "the router goes: it says so with a lifetime of nothing"
kill "$(< "$state/router.pid")"
expect internet << 'END'
  unreachable          -- -------  -           because no-route
END
expect literal << 'END'
  unreachable          -- -------  -           because no-route
END
expect_nothing without
