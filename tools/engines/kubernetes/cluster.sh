#!/usr/bin/env bash
# A real Kubernetes for tests: a control plane, and nodes that each have their own containerd, kubelet and kube-proxy. It
# lives as long as its standard input: when that ends, because the test closed it or died in any way, everything ends.
# It needs root, and leaves the machine unchanged: all of it runs in its own namespaces (processes, mounts, networks),
# which the kernel ends with their first process.
#
#   cluster.sh serve <nodes>   builds what is missing (see tools.sh) and starts a new cluster of 1 to 9 nodes. Prints
#                              "ready <N> <directory>" once every node is ready. Then it executes the lines of its
#                              standard input, one at a time, and prints "done" or "failed <line>" for each:
#       load <file.tar>           loads an image in the format of `docker save` into every node
#       load-program <program> <reference>   the same for an image with only one of the programs of tools.sh
#       cut <node>                silently drops all traffic to and from the node
#       mend <node>               makes the node reachable again
#       stop-api, start-api       kills the API server and its controllers; starts them again
#       kill <pod> <container>    kill -9 of the first process of a container
#
# Ends with status 3 if something is not available. The directory has the kubeconfig (of an administrator), and a log of
# every program under logs/. The cluster is 10.N.0.0/16, and the host reaches all of it:
#   10.N.0.1        the host, as pods see it         10.N.<i>.2        node <i>
#   10.N.0.2        control plane and cluster DNS    10.N.<16+i>.0/24  its pods
#   10.N.240.0/20   each of these is also an         10.N.32.0/20      Services
#                   address of the host; nodes pull
#                   from a registry without TLS at
#                   10.N.240.250:5000
# Progress goes to standard error. Environment:
#   GRANTD_TOOLS    the folder of the programs, by default ~/.cache/grantd-tools
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOOLS=${GRANTD_TOOLS:-$HOME/.cache/grantd-tools}
BIN=$TOOLS/bin
PATH=$PATH:/usr/sbin:/sbin
FIRST_NET=100
LAST_NET=199
WAIT_SECONDS_MAX=120

say() { echo "kubernetes: $*" >&2; }
die() { say "$*"; exit 1; }

# ---- outside: what the kernel does not end by itself ---------------------------------------------------------------

# Sets N, locked for the life of this shell, and DIR.
open_cluster() {
  mkdir -p "$TOOLS/kubernetes-nets"
  for N in $(shuf -i $FIRST_NET-$LAST_NET); do
    exec {NET_LOCK}> "$TOOLS/kubernetes-nets/$N"
    if flock -n "$NET_LOCK" && [ -z "$(ip -4 route show root "10.$N.0.0/16")" ]; then
      DIR=$(mktemp -d "${TMPDIR:-/tmp}/grantd-kubernetes-XXXXXX")
      trap close_cluster EXIT
      trap 'exit 143' TERM INT HUP
      return
    fi
    exec {NET_LOCK}>&-
  done
  die "no free network from 10.$FIRST_NET.0.0 to 10.$LAST_NET.0.0"
}

close_cluster() {
  [ -z "${INSIDE:-}" ] || kill -9 "$INSIDE" 2> /dev/null || true
  wait || true
  remove_cgroups
  # A mount goes away a moment after the last process that could see it.
  for _ in $(seq 50); do rm -rf "$DIR" 2> /dev/null && return; sleep 0.1; done
  rm -rf "$DIR"
}

cgroup_roots() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; else ls -d /sys/fs/cgroup/*/; fi
}

# A control group can be removed once its processes have ended, children first.
remove_cgroups() {
  local root group
  for _ in $(seq 50); do
    for root in $(cgroup_roots); do
      for group in "$root/grantd-kubernetes-$N"-*; do
        [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} \; 2> /dev/null || true
      done
    done
    compgen -G "/sys/fs/cgroup/*/grantd-kubernetes-$N-*" > /dev/null || return 0
    sleep 0.1
  done
  say "control groups remain: /sys/fs/cgroup/*/grantd-kubernetes-$N-*"
}

serve() {
  [[ ${1:-} =~ ^[1-9]$ ]] || die "serve: 1 to 9 nodes"
  [ "$(id -u)" = 0 ] || { say "only root can start nodes"; exit 3; }
  "$HERE/tools.sh" install >&2
  open_cluster
  remove_cgroups # left by one that was killed
  (
    exec {NET_LOCK}>&-
    exec setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child=KILL --mount-proc \
      bash "$HERE/cluster.sh" inside "$N" "$DIR" "$1"
  ) <&0 &
  INSIDE=$!
  local status=0
  wait "$INSIDE" || status=$?
  INSIDE=
  exit $status
}

# ---- inside ------------------------------------------------------------------------------------------------------

declare -A PIDS

# Starts a program in a network and appends to its log.
launch() { # name, network, command…
  local name=$1 network=$2
  shift 2
  nsenter --net="/run/netns/$network" "$@" >> "$DIR/logs/$name.log" 2>&1 < /dev/null &
  PIDS[$name]=$!
  disown $!
}

await() { # what, command…
  local what=$1 end=$((SECONDS + WAIT_SECONDS_MAX)) log
  shift
  until "$@" > /dev/null 2>&1; do
    if ((SECONDS >= end)); then
      for log in "$DIR"/logs/*; do printf -- '---- %s\n' "$log" >&2; tail -5 "$log" >&2; done
      die "no $what after $WAIT_SECONDS_MAX s"
    fi
    sleep 0.1
  done
}

kc() { "$BIN/kubectl" --kubeconfig "$DIR/kubeconfig" --request-timeout=10s "$@"; }

# Files that programs write at fixed places, and kernel settings that a kubelet changes: they see and change copies.
separate_files() {
  local each
  for each in /run /var/log /var/lib/cni /var/lib/kubelet; do
    mkdir -p "$each"
    mount -t tmpfs tmpfs "$each"
  done
  for each in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
    kernel/keys/root_maxbytes; do
    cat "/proc/sys/$each" > "$DIR/settings/${each//\//.}"
    mount --bind "$DIR/settings/${each//\//.}" "/proc/sys/$each"
  done
}

# The host, a hub in the middle, and each node behind the hub (see node.sh). The host's part goes away with the hub.
connect_hub() {
  ip netns add hub
  ip link add "grantd-k8s-$N" type veth peer name host netns hub
  ip addr add "10.$N.0.1/24" dev "grantd-k8s-$N"
  ip link set "grantd-k8s-$N" up
  ip -n hub addr add "10.$N.0.2/24" dev host
  ip -n hub link set host up
  ip -n hub link set lo up
  ip -n hub route add default via "10.$N.0.1"
  nsenter --net=/run/netns/hub sysctl -qw net.ipv4.ip_forward=1
  ip route add "10.$N.0.0/16" via "10.$N.0.2"
  ip route add local "10.$N.240.0/20" dev "grantd-k8s-$N"
}

obey() { # command, argument…
  local command=$1 i
  shift
  case $command in
    load) for i in $(seq "$NODES"); do load_image "$i" "$1" || return 1; done ;;
    load-program) obey load "$(program_image "$1" "$2")" ;;
    cut) is_node "${1:-}" && switch_link "$1" -I ;;
    mend) is_node "${1:-}" && switch_link "$1" -D ;;
    stop-api) stop_api ;;
    start-api) start_api ;;
    kill) kill_container "$1" "$2" ;;
    *) say "unknown command $command"; return 1 ;;
  esac
}

is_node() {
  if [[ ${1:-} =~ ^[1-9]$ ]] && (($1 <= NODES)); then return; fi
  say "there is no node ${1:-}"
  return 1
}

inside() {
  local i line
  N=$1 DIR=$2 NODES=$3
  # shellcheck source=control-plane.sh
  . "$HERE/control-plane.sh"
  # shellcheck source=node.sh
  . "$HERE/node.sh"
  mkdir -p "$DIR/logs" "$DIR/settings"
  separate_files
  connect_hub
  say "starting a control plane at 10.$N.0.2"
  start_control_plane
  say "starting $NODES node(s)"
  for i in $(seq "$NODES"); do start_node "$i"; done
  for i in $(seq "$NODES"); do await "node $i" is_ready "$i"; done
  echo "ready $N $DIR"
  while read -r line; do
    # shellcheck disable=SC2086 # a line is words
    if obey $line < /dev/null >&2; then echo "done"; else echo "failed $line"; fi
  done
}

case ${1:-} in
  serve) serve "${2:-}" ;;
  inside) inside "$2" "$3" "$4" ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
