# What lab.service does in the booted root of Scripts/package-installed, with its commands `upgrade` and `remove`: it
# writes what is active, works, and is gone in the end.
source /lab/commands
exec 9> /lab/facts 2> /lab/errors
facts() { echo "$@" >&9; }
export XDG_RUNTIME_DIR=/run/lab
as_user() { setpriv --reuid=nobody --clear-groups systemctl --user "$@"; }
running() { systemctl show --property MainPID --value dialtone-record.service dialtone-export.service | xargs; }
events() { cat /var/lib/dialtone/*.jsonl | grep -c "\"event\":\"$1\""; }
# The first answer may come before the target's state is known.
metrics() {
  local round
  for round in {1..100}; do
    exec 3<> /dev/tcp/127.0.0.1/9115
    printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    ! grep '^dialtone_reachable{target="internet"} 1' <&3 || return 0
    sleep 0.1
  done
}
for unit in dialtone-wait-online.service dialtone-wait-online@v0.service network-online.target \
  dialtone-record.service dialtone-export.socket; do
  facts "$unit $(systemctl is-active "$unit")"
done
as_user start dialtone-record.service
for unit in dialtone-wait-online.service dialtone-online.target dialtone-record.service; do
  facts "user $unit $(as_user is-active "$unit")"
done
facts "user's journal $(ls /run/lab/.local/state/dialtone | wc -l)"
as_user stop dialtone-record.service
facts "$(metrics)"
first=$(running)
$upgrade >&2
second=$(running)
[[ " $first $second " == *' 0 '* ]] || facts "new processes $(comm -23 <(printf '%s\n' $second | sort) \
  <(printf '%s\n' $first | sort) | wc -l)"
facts "$(metrics), starts $(events start), stops $(events stop)"
$remove >&2
facts "left $(pgrep -x dialtone | wc -l), $(systemctl list-units --plain --no-legend 'dialtone-*' | wc -l) units"
facts "starts $(events start), stops $(events stop), $(journalctl -t dialtone | grep -c Failed) complaints"
echo > /lab/done
