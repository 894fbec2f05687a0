#!/bin/sh
# Other OpenCL implementations on this CPU: fetches those that can be had into a folder of its own, checks every one and
# times three variants beside the system's own driver.
#
#   scons && bench/other_opencl.sh [--folder DIR] [--tiny] [--output FILE] [NAME ...]
#   bench/other_opencl.sh [--folder DIR] --run NAME ARGUMENT...    the program with one of them: --run intel devices
#   eval "$(bench/other_opencl.sh [--folder DIR] --env NAME)"      for all that this shell starts (intel, pocl-pypi, rusticl)
#
#   system     what /etc/OpenCL/vendors names (PoCL 3.1 on Debian 12)
#   intel      Intel's CPU runtime (PyPI: intel-opencl-rt)
#   pocl-pypi  PoCL 3.0-rc2 (PyPI: pocl-binary-distribution)
#   rusticl    Mesa's rusticl on llvmpipe (Debian: mesa-opencl-icd), without installing it
#   pocl-13, rusticl-13   the same two of Debian 13, in a tree of its own (as root)
#   oclgrind   a simulated device (Debian: oclgrind), tiny check only
#
# Nothing outside the folder changes.  What cannot be had is left out with the reason.  The last lines are a table:
# verdict of the check, slots a pair of sp2, ds4 and dp2, and these as multiples of the first implementation's; --output
# writes it as JSON.
set -u

top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
gravel=$top/build/bin/gravel
folder=$top/build/opencl
level=--quick
output=
names=
alone=
environment=
while [ $# -gt 0 ]; do
    case $1 in
        --folder) folder=$2; shift ;;
        --tiny) level=--tiny ;;
        --output) output=$2; shift ;;
        --run) alone=$2; shift 2; break ;;
        --env) alone=$2; environment=1 ;;
        -*) sed -n '2,20s/^# \{0,1\}//p' "$0"; exit 2 ;;
        *) names="$names $1" ;;
    esac
    shift
done
[ -n "$names$alone" ] || names='system intel pocl-pypi rusticl pocl-13 rusticl-13 oclgrind'
[ -x "$gravel" ] || { echo "other_opencl: $gravel is not there: run scons first" >&2; exit 1; }
mkdir -p "$folder/wheels" "$folder/debs" "$folder/out" || exit 1
folder=$(CDPATH='' cd -- "$folder" && pwd)
say() { printf 'other_opencl: %s\n' "$*" >&2; }

# ---------------------------------------------------------------- fetching

# wheels NAME PACKAGE...: wheels of PyPI with what they need, libraries together in one folder
wheels() {
    name=$1; shift
    [ -f "$folder/$name/done" ] && return 0
    python3 -m pip download -q -d "$folder/wheels/$name" "$@" > "$folder/out/$name.pip" 2>&1 || return 1
    mkdir -p "$folder/$name/lib" "$folder/$name/vendors"
    for wheel in "$folder/wheels/$name"/*.whl; do
        python3 -m zipfile -e "$wheel" "$folder/$name/tree" || return 1
    done
    find "$folder/$name/tree" -path '*/data/lib/*' ! -name 'libOpenCL*' -type f \
        -exec mv -f {} "$folder/$name/lib/" \;
    rm -rf "$folder/wheels/$name"
    touch "$folder/$name/done"
}

fetch_intel() {
    wheels intel intel-opencl-rt intel-cmplr-lib-rt || return 1
    echo "$folder/intel/lib/libintelocl.so" > "$folder/intel/vendors/intel.icd"
}

fetch_pocl_pypi() {
    wheels pocl-pypi pocl-binary-distribution || return 1
    find "$folder/pocl-pypi/tree" -name 'libpocl-*.so' > "$folder/pocl-pypi/vendors/pocl.icd"
    [ -s "$folder/pocl-pypi/vendors/pocl.icd" ]
}

fetch_rusticl() {
    [ -f "$folder/rusticl/done" ] && return 0
    mkdir -p "$folder/rusticl/vendors"
    (cd "$folder/debs" && apt-get download -q mesa-opencl-icd libllvmspirvlib15) \
        > "$folder/out/rusticl.apt" 2>&1 || return 1
    for deb in "$folder"/debs/mesa-opencl-icd_* "$folder"/debs/libllvmspirvlib15_*; do
        dpkg-deb -x "$deb" "$folder/rusticl/tree" || return 1
    done
    find "$folder/rusticl/tree" -name 'libRusticlOpenCL.so.1' > "$folder/rusticl/vendors/rusticl.icd"
    [ -s "$folder/rusticl/vendors/rusticl.icd" ] && touch "$folder/rusticl/done"
}

# A tree of Debian 13 with both drivers, by an apt that knows of nothing else.
fetch_debian_13() {
    [ "$(id -u)" = 0 ] || return 1
    [ -f "$folder/13/done" ] && return 0
    state=$folder/13/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$folder/13/tree"
    : > "$state/status"
    mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list \
        /etc/apt/sources.list.d/* 2> /dev/null | grep -v security | head -1)
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$key] $mirror trixie main" > "$state/list"
    apt13() {
        apt-get -q -o Dir::Etc::sourcelist="$state/list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$state" \
            -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root "$@"
    }
    { apt13 update && apt13 install -d -y --no-install-recommends pocl-opencl-icd mesa-opencl-icd libcjson1; } \
        > "$folder/out/debian13.apt" 2>&1 || return 1
    (cd "$folder/13/tree" && mkdir -p usr/lib usr/lib64 usr/bin usr/sbin proc sys dev tmp gravel &&
        ln -sfn usr/lib lib && ln -sfn usr/lib64 lib64 && ln -sfn usr/bin bin && ln -sfn usr/sbin sbin) || return 1
    for deb in "$state"/cache/archives/*.deb; do
        dpkg-deb -x "$deb" "$folder/13/tree" || return 1
    done
    for driver in pocl rusticl; do
        mkdir -p "$folder/13/tree/vendors/$driver"
        cp "$folder/13/tree/etc/OpenCL/vendors/$driver.icd" "$folder/13/tree/vendors/$driver/" || return 1
    done
    touch "$folder/13/done"
}

# ----------------------------------------------------------------- running

in_debian_13() { # driver, command...
    driver=$1; shift
    tree=$folder/13/tree
    cmp -s "$gravel" "$tree/gravel/gravel" || cp --remove-destination "$gravel" "$tree/gravel/gravel"
    # what Debian 13 has under other names comes from here
    mkdir -p "$tree/gravel/lib"
    ldd "$gravel" | sed -n 's/.* => \([^ ]*\) .*/\1/p' | while read -r library; do
        [ -n "$(find "$tree/usr/lib" "$tree/gravel/lib" -name "${library##*/}" -print -quit)" ] ||
            cp -L "$library" "$tree/gravel/lib/"
    done
    export tree
    # shellcheck disable=SC2016
    LD_LIBRARY_PATH=/gravel/lib OCL_ICD_VENDORS=/vendors/$driver RUSTICL_ENABLE=llvmpipe HOME=/tmp POCL_CACHE_DIR=/tmp/pocl \
        GRAVEL_CACHE_DIR=/tmp/cache-$driver \
        unshare -m sh -c 'mount -t proc proc "$tree/proc" && mount --bind /sys "$tree/sys" &&
            mount --bind /dev "$tree/dev" && exec chroot "$tree" "$@"' sh /gravel/gravel "$@"
}

# what makes the loader take an implementation that was fetched, as assignments
settings() { # name
    echo "OCL_ICD_VENDORS='$folder/$1/vendors' RUSTICL_ENABLE=llvmpipe POCL_CACHE_DIR='$folder/cache/$1'" \
        "LD_LIBRARY_PATH='$folder/$1/lib:$folder/$1/tree/usr/lib/x86_64-linux-gnu'"
}

# runs gravel under one implementation
under() {
    name=$1; shift
    cache=$folder/cache/$name
    mkdir -p "$cache"
    case $name in
        system) GRAVEL_CACHE_DIR=$cache "$gravel" "$@" ;;
        pocl-13) in_debian_13 pocl "$@" ;;
        rusticl-13) in_debian_13 rusticl "$@" ;;
        # above -O1 its compiler leaves intrinsics in that it cannot run
        oclgrind) GRAVEL_CACHE_DIR=$cache oclgrind --build-options -O1 "$gravel" "$@" ;;
        *) (eval "export $(settings "$name")" && GRAVEL_CACHE_DIR=$cache exec "$gravel" "$@") ;;
    esac
}

fetch() {
    case $1 in
        system) return 0 ;;
        intel) fetch_intel ;;
        pocl-pypi) fetch_pocl_pypi ;;
        rusticl) fetch_rusticl ;;
        pocl-13 | rusticl-13) fetch_debian_13 ;;
        oclgrind) command -v oclgrind > /dev/null ;;
        *) say "$1: not one of system intel pocl-pypi rusticl pocl-13 rusticl-13 oclgrind"; return 1 ;;
    esac
}

if [ -n "$alone" ]; then
    fetch "$alone" || { say "$alone: cannot be had here (see $folder/out)"; exit 1; }
    case $environment$alone in
        1intel | 1pocl-pypi | 1rusticl) mkdir -p "$folder/cache/$alone" && echo "export $(settings "$alone")" ;;
        1*) say "$alone: needs more than variables; use --run"; exit 1 ;;
        *) under "$alone" "$@" ;;
    esac
    exit
fi

done=
for name in $names; do
    if ! fetch "$name"; then
        say "$name: cannot be had here (see $folder/out)"
        continue
    fi
    say "$name"
    out=$folder/out/$name
    own=$level
    [ "$name" = oclgrind ] && own=--tiny
    under "$name" check "$own" --json > "$out.check.json" 2> "$out.check.txt" || tail -1 "$out.check.txt" >&2
    rm -f "$out.bench.json"
    # a simulated device has no speed
    [ "$name" = oclgrind ] ||
        under "$name" bench direct --variant sp2,ds4,dp2 --quick --json > "$out.bench.json" 2> "$out.bench.txt" ||
        tail -1 "$out.bench.txt" >&2
    done="$done $name"
done

# shellcheck disable=SC2086
python3 - "$folder/out" "$output" "${level#--}" $done <<'PYTHON'
import datetime
import json
import os
import sys


def read(path):
    try:
        with open(path, encoding="utf-8") as handle:
            return json.load(handle)
    except (OSError, ValueError):
        return None


def last_line(path):
    with open(path, encoding="utf-8", errors="replace") as handle:
        return (handle.read().strip().split("\n") or [""])[-1]


folder, output, level, names, first, rows = *sys.argv[1:4], sys.argv[4:], {}, []
print("%-12s %-44s %-9s %14s %14s %14s" % ("", "device, driver", "check", "sp2", "ds4", "dp2"))
for name in names:
    check = read(os.path.join(folder, name + ".check.json"))
    bench = read(os.path.join(folder, name + ".bench.json")) or []
    slots = {r["variant"]: round(r["slots_per_pair"], 1) for r in bench if r.get("slots_per_pair")}
    cells = []
    for variant in ("sp2", "ds4", "dp2"):
        if variant in slots:
            first.setdefault(variant, slots[variant])
        cells.append("-" if variant not in slots else "%.1f (%.2f)" % (slots[variant], slots[variant] / first[variant]))
    row = {"name": name, "date": datetime.date.today().isoformat(), "level": "tiny" if name == "oclgrind" else level}
    if check:
        row.update(device=check["device"], driver=check["driver"], verdict=check["verdict"])
    else:
        row.update(verdict="refused", reason=last_line(os.path.join(folder, name + ".check.txt")))
    row["slots_per_pair"] = slots
    row["configuration"] = {r["variant"]: [r["origin"], r["configuration"]] for r in bench}
    rows.append(row)
    what = "%s, %s" % (row["device"], row["driver"]) if check else "-"
    print("%-12s %-44.44s %-9s %14s %14s %14s" % (name, what, row["verdict"], *cells))
if output:
    with open(output, "w", encoding="utf-8") as handle:
        json.dump(rows, handle, indent=1)
        handle.write("\n")
PYTHON
