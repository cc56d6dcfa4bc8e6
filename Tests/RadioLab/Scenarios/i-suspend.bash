# The machine is suspended to memory. When it wakes, that is noticed, and names are looked up again. Setting a clock is
# no suspension.
radios 2
access_point wlan1 ap home 192.168.77.1/24
station home "$key"
eventually is_associated
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1
must ip link add wired type veth peer name far
must ip link set far up
must ip link set wired up
must ip address add 192.0.2.1/30 dev wired
echo 'nameserver 127.0.0.1' > /etc/resolv.conf
must dnsmasq --conf-file=/dev/null --user=root --no-resolv --no-hosts --listen-address=127.0.0.1 --bind-interfaces \
  --address=/site.example/192.0.2.2 --log-queries --log-facility="$state/names.log"
lookups() { grep -c 'query\[A\] site.example' "$state/names.log"; }
has_looked_up() { (($(lookups) >= $1)); }

# The target is a name, over a link that sleeps and wakes as if nothing had happened: only the suspension can cause a
# second lookup.
watch site --interface wired site.example
watch internet internet
expect site << 'END'
  reachable            -R ------d  wired/wired
END
expect internet << 'END'
  reachable            -R -------  wlan0/wifi  via 192.168.77.1
END
must test "$(lookups)" = 2 # one by each program

step "the clock is set to an hour ago"
must date -s "@$(($(date +%s) - 3600))"
expect_nothing internet
must test "$(lookups)" = 2

step "suspended; the real-time clock wakes the machine"
printf '+3' > /sys/class/rtc/rtc0/wakealarm
printf mem > /sys/power/state || fail "it cannot be suspended"
dmesg | grep -q "ACPI: PM: Waking up from system sleep state S3" || fail "it was not suspended to memory"
eventually has_looked_up 4
expect_nothing site
expect internet << 'END'
  unreachable            -- -------  wlan0/wifi  because no-carrier
END

step "the access point, which slept too, is started again"
access_point_dies wlan1
access_point wlan1 ap home
expect internet << 'END'
  ? requires-connection  -R -cC----  wlan0/wifi  because dormant
  reachable              -R -------  wlan0/wifi  via 192.168.77.1
END
