#!/bin/sh
# Errors and times of the tree on one device:  bench/tree_figures.sh DEVICE FOLDER [measure|draw|all]
# DEVICE is cpu, gpu or part of a name, as --device takes it.  `measure` needs no gnuplot and writes JSON below FOLDER;
# `draw` needs no device and makes PNG and SVG of it; `all` (the default) does both.
# GRAVEL_PROGRAM names the program, else it is the one in PATH.  TREE_QUICK=1: small numbers of bodies, for a look.
# On a large GPU measuring takes about three minutes, on two CPU cores half an hour (TREE_QUICK: two minutes).
set -eu
device=${1:?device, as --device takes it}
folder=${2:?folder for the JSON files and figures}
what=${3:-all}
gravel=${GRAVEL_PROGRAM:-gravel}
mkdir -p "$folder"

errors=30000,100000,1000000 times=16384,65536,262144,1048576 repeats=
case "$device" in
*cpu* | *CPU* | pthread*) ;;
*) times=16384,65536,131072,262144,1048576,4194304,16777216 ;;
esac
if [ -n "${TREE_QUICK:-}" ]; then
    errors=3000,10000,30000 times=4096,16384,65536 repeats="--repeats 3"
fi
thetas=0.2,0.3,0.4,0.5,0.6,0.7

bench() {
    file=$1
    shift
    echo "$file: gravel bench tree $*" >&2
    # shellcheck disable=SC2086
    "$gravel" bench tree --device "$device" $repeats "$@" -o "$folder/$file.json" >"$folder/$file.txt"
}

if [ "$what" != draw ]; then
    bench errors --model galaxy -n $errors --theta $thetas --distribution
    bench errors_geometric --model galaxy -n $errors --theta $thetas --mac geometric --distribution
    bench errors_mass --model galaxy -n "${errors#*,}" --theta $thetas --moments 1 --distribution
    bench times --model plummer -n $times --theta 0.5,0.3,0.75
    bench crossover --model plummer --theta 0.5 --crossover
fi
if [ "$what" != measure ]; then
    for end in png svg; do
        "$gravel" plot tree "$folder/errors.json" --kind distribution -o "$folder/distribution.$end"
        "$gravel" plot tree "$folder/errors.json" --kind theta -o "$folder/theta.$end"
        "$gravel" plot tree "$folder/errors_geometric.json" --kind theta -o "$folder/theta_geometric.$end"
        "$gravel" plot tree "$folder/errors.json" --kind n -o "$folder/n.$end"
        "$gravel" plot tree "$folder/times.json" --kind time -o "$folder/times.$end"
        "$gravel" plot tree "$folder/crossover.json" --kind crossover -o "$folder/crossover.$end"
    done
fi
