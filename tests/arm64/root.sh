#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A cross compiler and an arm64 root, both only unpacked below DIR: nothing is installed on this machine
# (Debian's cross gcc would remove gcc-multilib). Afterwards: make CROSS=DIR/bin/aarch64-linux-gnu-
# Needs mmdebstrap and a Debian mirror.
set -eu

[ $# -eq 1 ] || { echo "use: $0 DIR" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "$0: mmdebstrap is missing" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
suite=${SUITE:-bookworm}

tools=gcc-aarch64-linux-gnu,g++-aarch64-linux-gnu,binutils-aarch64-linux-gnu
libraries=libc6-dev,libstdc++-12-dev,libgcc-12-dev,linux-libc-dev,libncurses-dev,libunwind-dev,libdw-dev
libraries=$libraries,libelf-dev,libiberty-dev,libzstd-dev,zlib1g-dev,libjson-c-dev,libvterm-dev
# What make soak-arm64 runs.
programs=python3,perl,gcc,busybox-static,bash,coreutils,sqlite3,redis-server,procps,util-linux,strace,ncurses-base,grep,libc-bin,libc6-dbg,linux-image-cloud-arm64

[ -d "$dir/cross/usr" ] || mmdebstrap --variant=extract --architectures="$(dpkg --print-architecture)" \
	--include=$tools "$suite" "$dir/cross"
[ -d "$dir/root/usr" ] || mmdebstrap --variant=extract --architectures=arm64 \
	--include=$libraries,$programs "$suite" "$dir/root"
# A kernel with pages of 16 KB, which the suite of the programs may lack. Without it that test is skipped.
[ -d "$dir/16k/boot" ] || mmdebstrap --variant=extract --architectures=arm64 \
	--include=linux-image-arm64-16k "${SUITE_16K:-trixie}" "$dir/16k" || rm -rf "$dir/16k"
# Absolute links lead out of the root: the linker would take the static libtinfo beside the shared libncursesw.
find "$dir/root/usr/lib/aarch64-linux-gnu" -maxdepth 1 -type l -lname '/*' |
	while read -r link; do ln -sfn "../../..$(readlink "$link")" "$link"; done
# Its own libc would be found before the root's.
rm -rf "$dir/cross/usr/aarch64-linux-gnu/lib" "$dir/cross/usr/aarch64-linux-gnu/include"

mkdir -p "$dir/bin"
for tool in gcc g++ ar as ld nm objcopy objdump ranlib readelf strip; do
	case $tool in
	gcc | ld) sysroot="--sysroot='$dir/root'" ;;
	g++)
		sysroot="--sysroot='$dir/root' -isystem '$dir/root/usr/include/c++/12' \
			-isystem '$dir/root/usr/include/aarch64-linux-gnu/c++/12' -L'$dir/root/usr/lib/gcc/aarch64-linux-gnu/12'"
		;;
	*) sysroot= ;;
	esac
	cat >"$dir/bin/aarch64-linux-gnu-$tool" <<END
#!/bin/sh
LD_LIBRARY_PATH='$dir/cross/usr/lib/$(uname -m)-linux-gnu' exec '$dir/cross/usr/bin/aarch64-linux-gnu-$tool' $sysroot "\$@"
END
done
cat >"$dir/bin/aarch64-linux-gnu-pkg-config" <<END
#!/bin/sh
PKG_CONFIG_LIBDIR='$dir/root/usr/lib/aarch64-linux-gnu/pkgconfig:$dir/root/usr/share/pkgconfig' \\
	PKG_CONFIG_SYSROOT_DIR='$dir/root' exec pkg-config "\$@"
END
chmod +x "$dir"/bin/*
