# The figure of doc/tasks.md: gnuplot -e "data='factors.txt'; out='doc/figures/short_range.png'" bench/short_range.gp
# The data: GRAVEL_TEST_FACTORS=factors.txt build/tests/test_tasks
set terminal pngcairo size 900,560 font "sans,11"
set output out
set logscale y
set format y "10^{%T}"
set yrange [1e-17:1]
set xrange [0:3]
set xlabel "u = s / 2 r_s"
set ylabel "largest relative error of T(u)"
set key outside right
set grid
plot data index 0 with lines lw 2 title "table, level 0 (sp)", data index 1 with lines lw 2 title "level 1 (sp)", \
     data index 2 with lines lw 2 title "level 2 (sp)", data index 3 with lines lw 2 dt 2 title "level 2 (dp)", \
     data index 4 with lines lw 2 title "level 3 (dp)", data index 5 with lines lw 2 title "level 4 (dp)", \
     data index 6 with lines lw 2 lc "black" title "rational (sp)", data index 7 with lines lw 2 lc "black" dt 2 title "rational (dp)"
