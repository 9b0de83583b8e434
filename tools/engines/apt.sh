#!/usr/bin/env bash
# Installs Debian packages that tests need: apt.sh <package>…. Concurrent calls wait for one another. Ends with status 3
# if this machine cannot have them: not Debian, not root, or no such packages. Progress goes to standard error, the
# output of apt to a file in GRANTD_TOOLS, by default ~/.cache/grantd-tools.
set -euo pipefail

TOOLS=${GRANTD_TOOLS:-$HOME/.cache/grantd-tools}
LOG=$TOOLS/logs/apt.log
MISSING=3

missing() { echo "$PACKAGES: $*" >&2; exit $MISSING; }

install() { DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -qq -y --no-install-recommends "$@"; }

PACKAGES=$*
type -P apt-get > /dev/null && [ "$(id -u)" = 0 ] || missing "missing, and only root on Debian can install them"
mkdir -p "$TOOLS/logs"
exec 9> "$TOOLS/logs/apt.lock"
flock 9
echo "$PACKAGES: installing with apt-get" >&2
# Only a machine that has never listed its packages, or long ago, has to list them first. Services that a package starts
# must not keep the lock.
{ install "$@" || { apt-get update -qq && install "$@"; }; } > "$LOG" 2>&1 9>&- || missing "cannot be installed; see $LOG"
