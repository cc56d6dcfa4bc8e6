# The machine is suspended to memory: noticed when it wakes, and names are looked up again; a clock that is set is no wake-up.
radios 2
access_point wlan1 ap home 192.168.77.1/24
station home "$key"
eventually is_associated
must ip address add 192.168.77.2/24 dev wlan0
must ip route add default via 192.168.77.1
echo 'nameserver 127.0.0.1' > /etc/resolv.conf
must dnsmasq --conf-file=/dev/null --no-resolv --no-hosts --listen-address=127.0.0.1 --bind-interfaces \
  --address=/site.example/192.168.77.1 --log-queries --log-facility="$state/names.log"
lookups() { grep -c 'query\[A\] site.example' "$state/names.log"; }
has_looked_up() { (($(lookups) >= $1)); }

watch site site.example
expect site << 'END'
  reachable            -R ------d  wlan0/wifi
END
must has_looked_up 2 # by each of the two programs
step "the clock is set to an hour ago"
must date -s "@$(($(date +%s) - 3600))"
expect_nothing site
must test "$(lookups)" = 2

step "suspended; the real-time clock wakes the machine"
say "states: $(< /sys/power/state); to memory: $(< /sys/power/mem_sleep)"
printf '+3' > /sys/class/rtc/rtc0/wakealarm
printf mem > /sys/power/state || fail "it cannot be suspended"
dmesg | grep -q "ACPI: PM: Waking up from system sleep state S3" || fail "it was not suspended to memory"
eventually has_looked_up 4
expect site << 'END'
END
