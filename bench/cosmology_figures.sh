#!/bin/sh
# The figures of doc/cosmology.md: linear growth, a pancake, a box to redshift 0.  usage: bench/cosmology_figures.sh FOLDER [GRAVEL]
# GRID (64) bodies along a side of the growth's box, BOX_GRID (64) of the box of 100 Mpc/h that runs to redshift 0.  Needs gnuplot.
set -eu
out=$1 gravel=${2:-build/bin/gravel} grid=${GRID:-64} box=${BOX_GRID:-64}
mkdir -p "$out"

# D(a) of the default universe, by Heath's integral
growth='function e(a) { return sqrt(0.3089 / a^3 + 0.6911) }
function d(a,  i, n, u, s) { n = 2000; s = 0; for (i = 0; i <= n; i++) { u = i * sqrt(a) / n
    s += (i % n ? (i % 2 ? 4 : 2) : 1) * 2 * u^4 * (0.3089 + 0.6911 * u^6)^-1.5 } return e(a) * s * sqrt(a) / n / 3 }'

# power of the box against its beginning over D^2
if [ ! -d "$out/growth" ]; then
    "$gravel" ic cosmo -n "$grid" --box 500 --redshift 49 --fixed -o "$out/growth.hdf5"
    "$gravel" run --cosmology -i "$out/growth.hdf5" -o "$out/growth" --until 9 --redshifts 49,24 --steps shared --step-max 0.03125
fi
for k in 1 2; do
    grep -v '#' "$out/growth/spectrum_0000.txt" > "$out/first"
    grep -v '#' "$out/growth/spectrum_000$k.txt" > "$out/later"
    paste "$out/first" "$out/later" | awk -v a="$([ $k = 1 ] && echo 0.04 || echo 0.1)" "$growth"'
        BEGIN { by = (d(a) / d(0.02))^2 } { print $1, $7 / $3 / by }' > "$out/growth_$k.txt"
done
nyquist=$(awk -v n="$grid" 'BEGIN { print 3.14159265 * n / 500 }')
gnuplot <<END
set terminal pngcairo size 760,420 font 'sans,10'
set output '$out/cosmo_growth.png'
set logscale x; set xrange [0.01:$nyquist]; set yrange [0.8:1.1]; set grid lc rgb '#dddddd'; set key bottom left
set xlabel 'k [h/Mpc], to that of two bodies'; set ylabel 'P(k) / P(k, z = 49) over linear growth'
set title '$grid^3 bodies in 500 Mpc/h, fixed amplitudes'
plot 1 lc rgb 'black' notitle, 1.01 dt 2 lc rgb 'gray40' title '1 %', 0.99 dt 2 lc rgb 'gray40' notitle, \
  '$out/growth_1.txt' with linespoints pt 7 ps 0.5 lc rgb '#0072B2' title 'z = 24', \
  '$out/growth_2.txt' with linespoints pt 7 ps 0.5 lc rgb '#D55E00' title 'z = 9'
END

# a pancake: speeds against places, and Zel'dovich's
if [ ! -d "$out/pancake" ]; then
    "$gravel" ic pancake -n 32 --box 64 --redshift 49 --crossing 1 -o "$out/pancake.hdf5"
    "$gravel" run --cosmology -i "$out/pancake.hdf5" -o "$out/pancake" --until 1 --redshifts 9,3,1.5 --eps 600 --steps shared
fi
list=""
for k in 0 1 2 3; do
    z=$(echo 9 3 1.5 1 | cut -d' ' -f$((k + 1)))
    "$gravel" convert "$out/pancake/snapshot_000$k.hdf5" -o "$out/pancake.txt"
    # physical again to comoving; the exact curve is drawn with a parameter; first bodies of each plane only
    awk -v z="$z" '!/#/ && NF >= 8 && $1 % 1024 == 0 { print $3 * 0.6774 * (1 + z) / 1000, $6 }' "$out/pancake.txt" > "$out/pancake_$k.txt"
    awk -v z="$z" "$growth"'BEGIN { a = 1 / (1 + z); r = d(a) / d(0.5); k = 2 * 3.14159265358979 / 64
        f = (log(d(a * 1.001)) - log(d(a * 0.999))) / 0.002
        for (i = 0; i <= 400; i++) { q = i * 64 / 400; s = -r / k * sin(k * (q - 32)); print q + s, a * f * 100 * e(a) * s } }' > "$out/exact_$k.txt"
    list="$list${list:+, }'$out/exact_$k.txt' with lines lw 1.2 lc $((k + 1)) notitle, '$out/pancake_$k.txt' with points pt 7 ps 0.6 lc $((k + 1)) title 'z = $z'"
done
gnuplot <<END
set terminal pngcairo size 760,420 font 'sans,10'
set output '$out/cosmo_pancake.png'
set grid lc rgb '#dddddd'; set key top right; set xrange [0:64]
set xlabel 'x [Mpc/h]'; set ylabel 'peculiar velocity [km/s]'; set title '32^3 bodies; lines: Zel''dovich'
plot $list
END

# a box to redshift 0
if [ ! -d "$out/box" ]; then
    "$gravel" ic cosmo -n "$box" --box 100 --redshift 49 -o "$out/box.hdf5"
    "$gravel" run --cosmology -i "$out/box.hdf5" -o "$out/box" --redshifts 9,3,1 --timing
fi
"$gravel" plot spectrum "$out/box" -o "$out/cosmo_spectrum.png"
"$gravel" plot massfunction "$out/box" -o "$out/cosmo_massfunction.png"
"$gravel" plot slice "$out/box" -o "$out/cosmo_slice.png"
