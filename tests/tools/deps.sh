#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs packages: deps.sh NEEDED... : WANTED... Those after the colon are for tests, which name what
# they lack: one that this release of the system does not have is left out. ROOT: sudo, if needed.
set -u

is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
is_offered() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'; }

if ! command -v apt-get >/dev/null; then
	echo "make deps knows apt-get only; these packages are needed: $*" >&2
	exit 1
fi
missing=
for p; do
	[ "$p" = : ] || is_installed "$p" || missing=y
done
if [ -z "$missing" ]; then
	echo 'deps: everything is installed'
	exit 0
fi
$ROOT apt-get update -qq || exit 1
kind=needed install='' absent=''
for p; do
	if [ "$p" = : ]; then
		kind=wanted
	elif is_installed "$p"; then
		:
	elif [ $kind = needed ] || is_offered "$p"; then
		install="$install $p"
	else
		absent="$absent $p"
	fi
done
[ -z "$absent" ] || echo "deps: not in this release of the system, and left out:$absent"
[ -n "$install" ] || exit 0
echo "deps: apt-get install$install"
# shellcheck disable=SC2086 # words
$ROOT env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $install >/dev/null
