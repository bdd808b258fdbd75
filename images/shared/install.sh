#!/bin/sh
# Installs, inside an image being built, what its arguments name:
#   install.sh emulator           qemu-user and ninja
#   install.sh compiler ARCH...   gcc and libc for each Debian architecture: the native ones for the image's own
#   install.sh clang              clang, which finds those libc's headers
# Native or cross, gcc's driver is called <triplet>-gcc.
set -eu

packages_of() {
    if [ "$1" = "$(dpkg --print-architecture)" ]; then
        echo gcc libc6-dev
        return
    fi
    case $1 in
        amd64) echo gcc-x86-64-linux-gnu libc6-dev-amd64-cross ;;
        arm64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
        armhf) echo gcc-arm-linux-gnueabihf libc6-dev-armhf-cross ;;
        i386) echo gcc-i686-linux-gnu libc6-dev-i386-cross ;;
        *) echo "install.sh: no compiler is known for $1" >&2; return 1 ;;
    esac
}

what=$1
shift
case $what in
    emulator) set -- qemu-user ninja-build ;;
    compiler)
        packages=
        for arch in "$@"; do
            names=$(packages_of "$arch")
            packages="$packages $names"
        done
        # shellcheck disable=SC2086  # a list of names
        set -- $packages
        ;;
    clang) set -- clang ;;
    *) echo "install.sh: emulator, compiler or clang, not $what" >&2; exit 2 ;;
esac

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends "$@"
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*
