# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The one place that names the Debian packages, and sees that they are there.
# To be sourced: `need_packages "${build_packages[@]}"`.

# To build and run: the compiler, the build system, the parser generators,
# the OpenCL headers and loader, a CPU device, and the libraries.
# shellcheck disable=SC2034  # used by those who source this file
build_packages=(
    gcc libc6-dev meson ninja-build pkg-config flex bison python3
    opencl-headers ocl-icd-opencl-dev pocl-opencl-icd
    libxxhash-dev libzstd-dev zlib1g-dev libedit-dev libgsl-dev libsqlite3-dev
    libopenmpi-dev openmpi-bin
)

# To check as well: unit tests, what knows the case of letters, vdbq.h as C++, a
# device that reports misuse, libFuzzer, git, which tells the project's files
# from others, what tells how much memory a process had, and what reads scripts.
# shellcheck disable=SC2034
check_packages=("${build_packages[@]}" g++ libcmocka-dev libutf8proc-dev unicode-data oclgrind
                clang clang-format libclang-rt-14-dev git time pyflakes3)

# Prints those of the named packages that are not installed.
missing_packages()
{
    local name
    for name; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
            printf '%s\n' "$name"
    done
}

# Runs apt-get as root; fails where this user may not.
as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

may_install()
{
    [ "$(id -u)" -eq 0 ] || { command -v sudo && sudo -n true; } >/dev/null 2>&1
}

# Installs what is missing of the named packages, or says what to install.
need_packages()
{
    local missing
    if ! command -v dpkg-query >/dev/null; then
        printf 'No Debian here: what these packages hold must be there: %s\n' "$*" >&2
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! may_install; then
        printf 'These packages are missing; install them and run this again:\n' >&2
        printf '    apt-get install %s\n' "${missing[*]}" >&2
        return 1
    fi
    printf 'installing %s\n' "${missing[*]}"
    as_root apt-get update -qq
    as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
