# Wi-Fi roams between access points of one name, then changes to another network.
radios 4
must ip netns add home
must ip -n home link add br0 type bridge
must ip -n home address add 192.168.77.1/24 dev br0
must ip -n home link set br0 up
access_point wlan1 home home "" br0
station home "$key" cafe "$key"
eventually is_associated
access_point wlan2 home home "" br0
access_point wlan3 cafe cafe 10.9.0.1/24
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1
eventually has_address fe80:
watch internet internet
watch settled --settling 3 internet
watch path --settling 3 path
expect internet << 'END'
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END
expect settled << 'END'
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END
expect path << 'END'
  satisfied  wlan0/wifi  from 192.168.77.2 fe80::ff:fe00:0  via 192.168.77.1
END

step "roams there and back: the kernel takes the carrier away for some 100 ms; settled, it is the same path"
wpa scan freq=2412
eventually can_see 02:00:00:00:02:00
for access_point in 02:00:00:00:02:00 02:00:00:00:01:00; do
  wpa roam "$access_point"
  eventually is_at "$access_point"
  expect internet << 'END'
    unreachable          -- -------  wlan0/wifi  because no-carrier
    ? requires-connection -R -cC----  wlan0/wifi  because dormant
    reachable            -R -------  wlan0/wifi  via 192.168.77.1
END
done
must ping -c 1 -W 10 192.168.77.1
expect_nothing settled
expect_nothing path

step "another network, with another address and gateway"
wpa select_network 1
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
  ? requires-connection -R -cC----  wlan0/wifi  because dormant
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END
# At once, so that it does not settle between.
must ip -batch - << 'END'
address delete 192.168.77.2/24 dev wlan0
address add 10.9.0.2/24 dev wlan0
route add default via 10.9.0.1
END
expect internet << 'END'
  ? unreachable        -- -------  -           because no-route
  reachable            -R -------  wlan0/wifi  via 10.9.0.1
END
expect settled << 'END'
  reachable            -R -------  wlan0/wifi  via 10.9.0.1
END
expect path << 'END'
  satisfied  wlan0/wifi  from 10.9.0.2 fe80::ff:fe00:0  via 10.9.0.1
END
