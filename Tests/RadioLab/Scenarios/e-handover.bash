# Wi-Fi is lost while a modem is there: the state is what the kernel would do with a packet, with and without
# ignore_routes_with_linkdown.
radios 2
access_point wlan1 ap home 192.168.77.1/24
must ip -n ap address add fe80::1/64 dev wlan1 nodad
station home "$key"
must modprobe wwan_hwsim devices=1
eventually test -e /sys/class/net/wwan0
must ip link set wwan0 up
must ip -batch - << 'END'
address add 10.64.0.2/32 dev wwan0
address add 2001:db8:64::2/128 dev wwan0 nodad
route add default dev wwan0 metric 700
route add ::/0 dev wwan0 metric 700
END
eventually is_associated
wifi_addresses='address add 192.168.77.2/24 dev wlan0
address add 2001:db8:77::2/64 dev wlan0 nodad'
wifi_routes='default via 192.168.77.1 metric 600
default via fe80::1 dev wlan0 metric 600'
must ip -batch - <<< "$wifi_addresses"
change_routes() { must ip -batch - <<< "${wifi_routes//default/route $1 default}"; }
change_routes add
watch four -4 internet
watch six -6 internet
watch cellular --interface wwan0 -4 internet
expect four << 'END'
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
expect six << 'END'
  reachable            -R -------  wlan0/wifi      via fe80::1
END
expect cellular << 'END'
  reachable            WR t------  wwan0/cellular
END
expect_path satisfied wlan0/wifi wwan0/cellular/expensive

step "without the setting, the kernel goes on sending into the dead link, until its route is deleted"
wpa disconnect
for family in four six; do
  expect $family << 'END'
    unreachable          -- -------  wlan0/wifi      because no-carrier
END
done
expect_path unsatisfied wwan0/cellular/expensive because no-carrier
change_routes delete
for family in four six; do
  expect $family << 'END'
    reachable            WR t------  wwan0/cellular
END
done
expect_path satisfied expensive wwan0/cellular/expensive

step "Wi-Fi is back: not before its route is"
wpa reconnect
eventually is_associated
expect_nothing four
expect_nothing six
change_routes add
expect four << 'END'
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
expect six << 'END'
  reachable            -R -------  wlan0/wifi      via fe80::1
END

step "with the setting: one change to the modem"
must sysctl -w net.ipv4.conf.all.ignore_routes_with_linkdown=1
must sysctl -w net.ipv6.conf.all.ignore_routes_with_linkdown=1
expect_nothing four
expect_nothing six
watch settled --settling 3 -4 internet
expect settled << 'END'
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
wpa disconnect
for watched in four six settled; do
  expect $watched << 'END'
    reachable            WR t------  wwan0/cellular
END
done
expect_path satisfied expensive wwan0/cellular/expensive

# As soon as there is a carrier, the kernel sends into it again, although the keys come some 10 ms later.
step "and one back; where it is told at once, what the kernel does before the link has its keys may be told, too"
wpa reconnect
expect four << 'END'
  ? requires-connection  -R -cC----  wlan0/wifi      because dormant
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
expect settled << 'END'
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
expect six << 'END'
  ? requires-connection  -R -cC----  wlan0/wifi      because dormant
  reachable            -R -------  wlan0/wifi      via fe80::1
END
expect_nothing cellular
