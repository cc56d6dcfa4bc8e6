# Wi-Fi is lost while a modem is there: what the kernel would do with a packet, with and without ignore_routes_with_linkdown.
radios 2
access_point wlan1 ap home 192.168.77.1/24
station home "$key"
must modprobe wwan_hwsim devices=1
eventually test -e /sys/class/net/wwan0
must ip link set wwan0 up
must ip address add 10.64.0.2/32 dev wwan0
must ip route add default dev wwan0 metric 700
eventually is_associated
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1 metric 600
watch internet internet
watch cellular --interface wwan0 internet
expect internet << 'END'
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
expect cellular << 'END'
  reachable            WR -t-----  wwan0/cellular
END
expect_path satisfied wlan0/wifi wwan0/cellular/expensive

step "without the setting, the kernel goes on sending into the dead link"
wpa disconnect
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi      because no-carrier
END
must ip route delete default via 192.168.77.1 metric 600
expect internet << 'END'
  reachable            WR -t-----  wwan0/cellular
END

step "Wi-Fi is back: not before its route is"
wpa reconnect
eventually is_associated
expect_nothing internet
must ip route add default via 192.168.77.1 metric 600
expect internet << 'END'
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END

step "with ignore_routes_with_linkdown: one change there, and one back"
must sysctl -w net.ipv4.conf.all.ignore_routes_with_linkdown=1
expect_nothing internet
wpa disconnect
expect internet << 'END'
  reachable            WR -t-----  wwan0/cellular
END
wpa reconnect
eventually is_associated
expect internet << 'END'
  ? requires-connection  -R c--C---  wlan0/wifi      because dormant
  reachable            -R -------  wlan0/wifi      via 192.168.77.1
END
expect_nothing cellular
