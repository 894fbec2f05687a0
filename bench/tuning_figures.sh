#!/bin/sh
# The figures of doc/tuning.md for one device:  bench/tuning_figures.sh DEVICE FOLDER [VARIANT]
# DEVICE is cpu, gpu or part of a name, as --device takes it (a CPU by name: pthread...).
# Measures with `gravel tune` (GRAVEL_PROGRAM, else the one in PATH) and draws with gnuplot.
set -eu
device=${1:?device, as --device takes it}
folder=${2:?folder for logs and figures}
variant=${3:-ds4}
gravel=${GRAVEL_PROGRAM:-gravel}
mkdir -p "$folder"

# A CPU wants one work-item per group; what its constraints rule out as slow is measured here to show it.
case "$device" in
*cpu* | *CPU* | pthread*)
    threads="threads=1,16,32,64 blocks_per_cu=1,2,4,8,16 split=1 sinks_per_item=1 tile=0 unroll=4"
    split="threads=1,16 blocks_per_cu=1,2,4 split=1,4,16 sinks_per_item=1 tile=0 unroll=4"
    sinks=1024 sources=16384 unlikely=--unlikely ;;
*)
    threads="threads=64,128,256,512 split=1,2,4 sinks_per_item=1,2 tile=128 unroll=4 rsqrt=1"
    split="threads=64,128,256 blocks_per_cu=2,4,8,16 split=1,2,4,8,16,32,64"
    split="$split sinks_per_item=1 tile=32,64 unroll=4 rsqrt=1"
    sinks=16384 sources=131072 unlikely= ;;
esac

"$gravel" tune --device "$device" --variant "$variant" --sinks $sinks --sources $sources --plain --exhaustive $unlikely \
    --only "$threads" --log "$folder/threads.jsonl" --profile-dir "$folder/scratch"
"$gravel" tune --device "$device" --variant "$variant" --sources 131072 \
    --sinks 1,2,4,8,16,32,33,48,64,96,128,160,192,224,256 --plain --exhaustive $unlikely --only "$split" \
    --log "$folder/sinks.jsonl" --profile-dir "$folder/scratch"
for end in png svg; do
    "$gravel" plot tuning "$folder/threads.jsonl" --kind threads -o "$folder/threads.$end"
    "$gravel" plot tuning "$folder/sinks.jsonl" --kind sinks -o "$folder/sinks.$end"
done
rm -rf "$folder/scratch"
