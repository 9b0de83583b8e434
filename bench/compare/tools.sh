#!/usr/bin/env bash
# Provides what the comparison needs and npm does not have: the peers, built from their Go modules in fixed versions; the
# load, built from the folder next to this script, and an evaluator of conditions, from test/differential/conditions; and
# Postgres from Debian. Existing programs are kept.
#
#   tools.sh install <tool>…   out of: openfga spicedb load cel-go postgres
#   tools.sh path <tool>       prints where it is
#
# Ends with status 3 if something is not available: no Go, no sources, not Debian, not root. Progress and durations go to
# standard error. Environment:
#   GRANTD_TOOLS   the folder of the programs, by default ~/.cache/grantd-tools
set -euo pipefail

OPENFGA=v1.22.1
SPICEDB=v1.54.0
TOOLS=${GRANTD_TOOLS:-$HOME/.cache/grantd-tools}
BIN=$TOOLS/bin
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LOAD=$HERE/load
CEL_GO=$HERE/../../test/differential/conditions/cel-go
MISSING=3

say() { echo "compare tools: $*" >&2; }
missing() { say "$*"; exit $MISSING; }

# A peer built from a module does not report its version, so the version is part of the file name.
path_of() {
  case $1 in
    openfga) echo "$BIN/openfga-$OPENFGA" ;;
    spicedb) echo "$BIN/spicedb-$SPICEDB" ;;
    load) echo "$BIN/compare-load" ;;
    cel-go) echo "$BIN/compare-cel-go" ;;
    postgres) find /usr/lib/postgresql -path '*/bin/postgres' 2> /dev/null | sort -V | tail -1 | xargs -r dirname ;;
    *) say "unknown tool $1"; exit 2 ;;
  esac
}

build_openfga() { # output directory
  GOBIN=$1 nice -n 10 go install "github.com/openfga/openfga/cmd/openfga@$OPENFGA"
}

# Its module may not be installed by name (it has replace directives), so it is built in a copy of its sources.
build_spicedb() { # output directory
  local module
  module=$(cd / && go mod download -json "github.com/authzed/spicedb@$SPICEDB" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  cp -r "$module" "$1/sources"
  chmod -R u+w "$1/sources"
  (cd "$1/sources" && nice -n 10 go build -o "$1/spicedb" ./cmd/spicedb)
}

build_load() { # output directory
  (cd "$LOAD" && go build -o "$1/load" .)
}

build_cel-go() { # output directory
  (cd "$CEL_GO" && nice -n 10 go build -o "$1/cel-go" .)
}

install_postgres() {
  local apt=$HERE/../../tools/engines/apt.sh
  "$apt" postgresql-common || exit $?
  # Keeps the package from creating and starting a server of the machine's own.
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
  "$apt" postgresql || exit $?
}

install_tool() {
  local start=$SECONDS directory
  if [ "$1" = postgres ]; then
    [ -n "$(path_of postgres)" ] || install_postgres
    [ -n "$(path_of postgres)" ] || missing "Postgres is not where Debian puts it"
    return
  fi
  # These are small, and their sources change: Go itself knows whether it must build.
  local own=
  case $1 in load | cel-go) own=true ;; esac
  [ -n "$own" ] || [ ! -x "$(path_of "$1")" ] || return 0
  type -P go > /dev/null || missing "Go is missing, and $1 is built with it"
  [ -n "$own" ] || say "building $1 from its Go module (5 to 10 minutes, once)"
  directory=$(mktemp -d "$TOOLS/build-XXXXXX")
  BUILT=$directory
  trap 'chmod -R u+w "$BUILT"; rm -rf "$BUILT"' EXIT
  "build_$1" "$directory" > "$TOOLS/logs/$1.log" 2>&1 || missing "$1 cannot be built; see $TOOLS/logs/$1.log"
  mv "$directory/$1" "$(path_of "$1")"
  [ -n "$own" ] || say "$1 is ready, after $((SECONDS - start)) s"
}

# Two concurrent runs would write the same file: the second waits, and finds it done.
locked() { # tool
  (
    exec 9> "$TOOLS/locks/compare-$1"
    flock -n 9 || { say "waiting for another installation of $1"; flock 9; }
    install_tool "$1"
  )
}

case ${1:-} in
  install)
    shift
    mkdir -p "$BIN" "$TOOLS/locks" "$TOOLS/logs"
    export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
    for each in "$@"; do
      path_of "$each" > /dev/null
      locked "$each"
    done
    ;;
  path) path_of "${2:-}" ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
