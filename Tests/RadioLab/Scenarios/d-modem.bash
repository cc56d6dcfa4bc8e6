# A modem alone: without a session, with one, and the targets for which it does not count.
must modprobe wwan_hwsim devices=1
eventually test -e /sys/class/net/wwan0
watch internet internet
watch local local-network
wait_without_cellular internet

step "there is a modem, but no session"
expect internet << 'END'
  requires-connection  WR tc-----  wwan0/cellular  because no-session
END
expect local << 'END'
  unreachable          -- -------  -               because no-interface
END
must ip link set wwan0 up
expect_interface wwan0 type 65534 devtype wwan link-kind wwan is cellular
expect_nothing internet

step "a session: an address and a route"
must ip address add 10.64.0.2/32 dev wwan0
must ip route add default dev wwan0 metric 700
expect internet << 'END'
  unreachable          -- -------  -               because no-route
  reachable            WR t------  wwan0/cellular
END
expect_nothing local
still_waits
expect_path satisfied expensive wwan0/cellular/expensive

step "a second session beside it is another interface"
must ip link add dev wwan0-7 parentdev wwan0 type wwan linkid 7
must ip link set wwan0-7 up
expect_interface wwan0-7 type 65534 devtype wwan link-kind wwan is cellular
expect_nothing internet
still_waits

step "the session ends; a wired way ends the waiting"
must ip link set wwan0 down
expect internet << 'END'
  requires-connection  WR tc-----  wwan0/cellular  because no-session
END
still_waits
must ip link add wired type veth peer name far
must ip link set far up
must ip link set wired up
must ip address add 192.0.2.2/30 dev wired
must ip route add default via 192.0.2.1
expect internet << 'END'
  reachable            -R -------  wired/wired     via 192.0.2.1
END
expect_path satisfied wired/wired wwan0-7/cellular/expensive
has_waited "reachable -R ------- wired/wired via 192.0.2.1"

step "the modem goes"
must ip link delete wwan0-7
must ip link delete wwan0
expect_nothing internet
