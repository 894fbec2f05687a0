#!/bin/sh
# Real N-body codes, relinked: fetches their sources by package name, builds every one against the library that it comes
# with and against gravel's (the same objects, another link line), runs both and compares.
#
#   scons && bench/real_codes.sh [--folder DIR] [--bodies 100|1k|4k|8k|16k] [--time T] [--fresh] [CODE ...]
#
#   phigrape    phiGRAPE beside AMUSE's emulator of GRAPE-6 (PyPI: amuse-phigrape, amuse-framework)
#   ph4         ph4 beside its own loops (amuse-ph4)
#   ph4-bare    the same without softening: two-body encounters
#   ph4-mpi     the same as ph4 on two ranks, which share the sources
#   bhtree      bhtree beside AMUSE's emulator (amuse-bhtree)
#   nbody6xx    NBODY6++ beside its own loops (amuse-nbody6xx)
#   rebound     REBOUND's leap-frog with its code for GRAPE-7, beside its direct sum (rebound)
#
#   --folder    where everything goes (build/codes); what is there is not fetched again
#   --bodies    which Plummer sphere of those that come with ph4 (1k: 1024 bodies); nbody6xx makes one of its own
#   --time      end of the run in N-body units (1)
#   --fresh     build again what is built
#
#   bench/real_codes.sh                                            all of them, 1024 bodies
#   bench/real_codes.sh --bodies 4k --time 0.25 phigrape ph4       two of them
#   GRAVEL_COMPAT_PRECISION=dp bench/real_codes.sh phigrape        settings are those of doc/dropin.md
#   POCL_MAX_PTHREAD_COUNT=1 bench/real_codes.sh ph4               ... and of the driver
#
# Needs pip, make, gcc, g++, gfortran and MPI's compilers.  Nothing outside the folder changes.  What cannot be had or
# built is left out with the reason.  The last lines are a table: relative energy error with either library, seconds
# (gravel's second run, so that no kernel is compiled in it), and how many lines gravel said.
set -u

top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
lib=$top/build/lib
folder=$top/build/codes
amuse=2024.6.0
rebound=0.1.8 # 1.0.0 has no GRAPE code any more
bodies=1k
end=1
fresh=
names=
usage() { sed -n '2,29s/^# \{0,1\}//p' "$0"; }
say() { printf 'real_codes: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
while [ $# -gt 0 ]; do
    case $1 in
        --folder | --bodies | --time)
            [ $# -gt 1 ] || fail "$1 needs a value (see --help)"
            case $1 in
                --folder) folder=$2 ;;
                --bodies) bodies=$2 ;;
                --time) end=$2 ;;
            esac
            shift ;;
        --fresh) fresh=1 ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; fail "there is no option $1" ;;
        phigrape | ph4 | ph4-bare | ph4-mpi | bhtree | nbody6xx | rebound) names="$names $1" ;;
        *) fail "$1: not one of phigrape ph4 ph4-bare ph4-mpi bhtree nbody6xx rebound" ;;
    esac
    shift
done
[ -n "$names" ] || names='phigrape ph4 ph4-bare ph4-mpi bhtree nbody6xx rebound'
case $bodies in
    100) count=100 ;;
    1k | 4k | 8k | 16k) count=$((${bodies%k} * 1024)) ;;
    *) fail "--bodies $bodies: one of 100, 1k, 4k, 8k, 16k" ;;
esac
awk -v t="$end" 'BEGIN { exit !(t + 0 > 0 && t + 0 == t) }' || fail "--time $end: a positive number"
[ -e "$lib/libgravel_g6.so" ] || fail "$lib/libgravel_g6.so is not there: run scons first"
for tool in make gcc g++ gfortran mpicxx mpirun; do
    command -v $tool > /dev/null || fail "$tool is not there (Debian: make gcc g++ gfortran libopenmpi-dev)"
done
python3 -m pip --version > /dev/null 2>&1 || fail "python3 -m pip does not work (Debian: python3-pip)"
mkdir -p "$folder/out" "$folder/run" || exit 1
folder=$(CDPATH='' cd -- "$folder" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# ---------------------------------------------------------------- fetching

# fetch NAME: the source of PyPI's amuse-NAME in src/NAME.  pip wants to know what a package needs even to download it,
# and AMUSE's set-up ends with an error where numpy is missing; the source is unpacked by then.
package() {
    case $1 in
        rebound) echo "rebound==$rebound" ;;
        *) echo "amuse-$1==$amuse" ;;
    esac
}
fetch() {
    [ -d "$folder/src/$1" ] && return 0
    rm -rf "$folder/pip" && mkdir -p "$folder/pip" "$folder/src"
    TMPDIR=$folder/pip python3 -m pip download -q --no-deps --no-clean --no-binary :all: --no-build-isolation \
        -d "$folder/pip/sdist" "$(package "$1")" > "$folder/out/$1.pip" 2>&1
    found=$(find "$folder/pip" -name PKG-INFO -path "*$1*" | awk '{ print length, $0 }' | sort -n |
        sed -n '1s/^[0-9]* //p')
    [ -n "$found" ] && mv "$(dirname "$found")" "$folder/src/$1" && rm -rf "$folder/pip"
}

# ---------------------------------------------------------------- building

# link_line LIBRARY: all that changes
link_line() { echo "-L$lib -l$1 -Wl,-rpath,$lib"; }

# copy CODE: its source as AMUSE has it, in a folder to build in
copy() {
    [ -z "$fresh" ] || rm -rf "$folder/build/${1:?}"
    [ -d "$folder/build/$1" ] && return 0
    mkdir -p "$folder/build"
    if [ "$1" = rebound ]; then
        mkdir "$folder/build/$1" && cp -r "$folder/src/$1/librebound" "$folder/build/$1/src"
    else
        cp -r "$folder/src/$1/src/amuse/community/$1" "$folder/build/$1"
    fi
}

# What AMUSE's codes share: stopping conditions, and its emulator of GRAPE-6
build_framework() {
    fetch framework || return 1
    [ -f "$folder/build/lib/g6/libg6.a" ] && return 0
    mkdir -p "$folder/build" && cp -r "$folder/src/framework/lib" "$folder/build/" || return 1
    for part in stopcond g6; do
        (cd "$folder/build/lib/$part" && gcc -O2 -w -c "${part%6}"*.c -o part.o && ar rc lib$part.a part.o) || return 1
    done
}
stop="-L$folder/build/lib/stopcond -lstopcond"

build_phigrape() {
    cd "$folder/build/phigrape/src" || return 1
    for which in own gravel; do
        line="-L$folder/build/lib/g6 -lg6"
        [ $which = own ] || line=$(link_line gravel_g6)
        rm -f phiGRAPE
        make phiGRAPE FC=gfortran FFLAGS="-O2 -DNOMPI -std=legacy -w" SC_FLAGS="-I$folder/build/lib/stopcond -w" \
            SC_MPI_CLIBS="$stop" LLIBSDIR= G6LIBS="$line" && mv phiGRAPE $which || return 1
    done
}

# ph4's own Makefile; the stopping conditions stand on its link line beside Sapporo.  Both programs have the names of
# GRAPE-6 in them, of which the one without GPU calls none.
build_ph4() {
    cd "$folder/build/ph4/src" && touch nstab.c || return 1 # which came from nstab.f by f2c
    make -f Makefile.ph4 AMUSE_DIR="$folder/build" CFLAGS="-O2 -w -I$folder/build/lib/stopcond" \
        LIBS="$stop $(link_line gravel_g6)" parallel_hermite_4 parallel_hermite_4_noGPU &&
        mv parallel_hermite_4 gravel && mv parallel_hermite_4_noGPU own
}

build_bhtree() {
    cd "$folder/build/bhtree/src" || return 1
    for which in own gravel; do
        line="-L$folder/build/lib/g6 -lg6"
        [ $which = own ] || line=$(link_line gravel_g6)
        rm -f BHTC
        make BHTC CXX=g++ CC=gcc CPPFLAGS="-DGPU -w" CXXFLAGS="-O2 -w -DTREE -DNOGRAPHICS -DTOOLBOX" \
            SC_FLAGS="-I$folder/build/lib/stopcond" SC_LIBS="$stop $line" && mv BHTC $which || return 1
    done
}

# Two programs: without its GPU code, and with it, where the library replaces the objects of CUDA.
build_nbody6xx() {
    cd "$folder/build/nbody6xx/src" || return 1
    cp mpif.null.h mpif.h
    printf 'include Makefile\nOBJECTS += energy.o\nnbody6: energy.o\n' > own.make
    printf 'include Makefile\nOBJECTS += energy.o util_gpu.o\nnbody6.gpu: energy.o util_gpu.o\n' > gravel.make
    flags="-O2 -std=legacy -w"
    make -f own.make nbody6 FC=gfortran FFLAGS="$flags" && mv nbody6 own && rm -f ./*.o &&
        make -f gravel.make nbody6.gpu FC=gfortran FFLAGS="$flags -DGPU" CUDAOBJECTS= LFLAGS="-o nbody6.gpu" \
            LFLAGS2="$(link_line gravel_gpunb)" && mv nbody6.gpu gravel
}

# REBOUND's users write problem.c.  gravity_grape.c includes the header of GRAPE-7's library, which ours has under the
# same name, and had lost one variable.
build_rebound() {
    cd "$folder/build/rebound/src" || return 1
    cat > problem.c <<'PROBLEM'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "main.h"
#include "particle.h"
#include "boundaries.h"
#include "integrator.h"
#include "problem.h"
#ifdef GRAVITY_GRAPE
int gravity_ignore_10;
#endif
static double first;

static double energy(void)
{
    double e = 0;
    for (int i = 0; i < N; i++) {
        const struct particle *p = &particles[i];
        e += 0.5 * p->m * (p->vx * p->vx + p->vy * p->vy + p->vz * p->vz);
        for (int j = 0; j < i; j++) {
            const double x = particles[j].x - p->x, y = particles[j].y - p->y, z = particles[j].z - p->z;
            e -= p->m * particles[j].m / sqrt(x * x + y * y + z * z + softening * softening);
        }
    }
    return e;
}

void problem_init(int argc, char *argv[])
{
    struct particle p = {0};
    int count;
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (!file || fscanf(file, "%*d %d %*f", &count) != 1)
        exit(2);
    softening = 0.01;
    dt = 1.0 / 512;
    tmax = atof(argv[2]);
    boxsize = 1000;
    integrator = LEAPFROG;
    init_box();
    for (int i = 0; i < count; i++) {
        if (fscanf(file, "%*d %lf %lf %lf %lf %lf %lf %lf", &p.m, &p.x, &p.y, &p.z, &p.vx, &p.vy, &p.vz) != 7)
            exit(2);
        particles_add(p);
    }
    fclose(file);
    first = energy();
}

void problem_output(void) {}

void problem_finish(void)
{
    printf("\nenergy %.6g\n", (energy() - first) / first);
}
PROBLEM
    flags="-O2 -w -std=gnu99 -DCOLLISIONS_NONE -DBOUNDARIES_NONE -I."
    most="main.c particle.c problem.c tools.c boundaries_none.c collisions_none.c input.c output.c integrator.c
        integrator_ias15.c integrator_mikkola.c integrator_wh.c integrator_leapfrog.c integrator_sei.c integrator_hybrid.c"
    # shellcheck disable=SC2046,SC2086
    gcc $flags -DGRAVITY_DIRECT $most gravity_direct.c -o own -lm &&
        gcc $flags -DGRAVITY_GRAPE "-I$top/include" "-I$top/include/gravel/compat" $most gravity_grape.c -o gravel \
            $(link_line gravel_g5) -lm
}

# need CODE: fetched and built, or the reason why not
need() {
    [ -z "$fresh" ] && [ -x "$folder/build/$1/src/own" ] && [ -x "$folder/build/$1/src/gravel" ] && return 0
    for part in framework "$1"; do
        fetch "$part" || { say "$1: $(package "$part") cannot be had ($folder/out/$part.pip)"; return 1; }
    done
    if ! build_framework > "$folder/out/framework.make" 2>&1; then
        say "$1: what AMUSE's codes share cannot be built ($folder/out/framework.make)"
        return 1
    fi
    copy "$1" && (build_"$1") > "$folder/out/$1.make" 2>&1 && return 0
    say "$1: cannot be built ($folder/out/$1.make)"
    return 1
}

# ----------------------------------------------------------------- running

# What a run reads, in the working folder
input_phigrape() {
    cp "$model" data.inp
    # eps t_end dt_disk dt_contr dt_bh dt_timing dt_restart dt_max eta_s eta irestart,icmcorr nbh data
    printf '%s\n' 0.01 "$end" "$end" "$end" 10000 10000 10000 .125 0.01 0.02 '0 0' 0 data.inp > phiGRAPE.inp
}

input_bhtree() {
    awk 'BEGIN { n = 0 } NR > 3 && NF == 8 { m[n] = $2; x[n] = $3 " " $4 " " $5; v[n++] = $6 " " $7 " " $8 }
        END { print n "\n3\n0"; for (i = 0; i < n; i++) print m[i]; for (i = 0; i < n; i++) print x[i]
            for (i = 0; i < n; i++) print v[i] }' "$model" > in
}

# KSTART TCOMP TCRITp isernb iserreg; N NFIX NCRIT NRAND NNBOPT NRUN; ETAI ETAR RS0 DTADJ DELTAT TCRIT QE RBAR ZMBAR;
# options (a Plummer model, two-body regularization and what adjusts it); DTMIN RMIN ETAU ECLOSE GMIN GMAX;
# ALPHAS BODY1 BODYN NBIN0 NHI0 ZMET EPOCH0 DTPLOT; Q VXROT VZROT RSPH2
input_nbody6xx() {
    {
        printf '1 1000000.0 1.0E6 40 40\n%s 1 10 43532 50 1\n' "$count"
        printf '0.02 0.02 0.3 %s %s %s 1.0 1.0 0.7\n' "$end" "$end" "$end"
        printf '0 0 0 0 1 0 0 0 0 0\n0 0 0 0 0 1 0 0 0 0\n0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 1\n0 0 0 0 0 0 0 0 0 0\n'
        printf '4.0E-5 1.0E-3 0.2 1.0 1.0E-6 0.01\n2.35 1.0 1.0 0 0 0.001 0 100.0\n0.5 0.0 0.0 0.0\n'
    } > in
}

# start CODE PROGRAM: one run, in the working folder
start() {
    case $1 in
        phigrape) "$2" ;;
        ph4) "$2" -f "$model" -t "$end" -d "$end" -e 0.01 ;;
        ph4-bare) "$2" -f "$model" -t "$end" -d "$end" -e 0 ;;
        ph4-mpi) mpirun -n 2 "$2" -f "$model" -t "$end" -d "$end" -e 0.01 ;;
        bhtree) "$2" -i in -T "$end" -e 0.01 -t 0.5 ;;
        nbody6xx) GRAVEL_COMPAT_M_FLAG=no "$2" < in ;;
        rebound) "$2" "$model" "$end" ;;
    esac
}

# energy CODE: relative error of the energy at the end
energy() {
    case $1 in
        phigrape) awk 'NR == 1 { e = $3 } { last = $3 } END { print (NR > 1 ? (last - e) / e : "none") }' energy.dat ;;
        ph4*) sed -n 's/.* *E = \(.*\)  *E-E0 = \(.*\)/\1 \2/p; s/^E = \([^ ]*\),* *E-E0 = \(.*\)/\1 \2/p' out |
            awk 'END { print (NR > 1 ? $2 / ($1 - $2) : "none") }' ;;
        bhtree) awk '/^T=/ { e = $NF } END { print (e == "" ? "none" : e) }' out ;;
        nbody6xx) awk '/ADJUST/ { for (i = 1; i < NF; i++) if ($i == "DE") { e = $(i + 2); n++ } }
            END { print (n > 1 ? e : "none") }' out ;;
        rebound) awk '/^energy/ { e = $2 } END { print (e == "" ? "none" : e) }' out ;;
    esac
}

now() { date +%s.%N; }

# run CODE own|gravel: seconds and energy error into files of its folder
run() {
    code=$1 which=$2
    here=$folder/run/$code.$which
    rm -rf "$here" && mkdir -p "$here" && cd "$here" || return 1
    for turn in 1 2; do
        [ "$which$turn" = own1 ] && continue
        case $code in phigrape | bhtree | nbody6xx) input_"$code" ;; esac
        before=$(now)
        start "$code" "$folder/build/${code%-*}/src/$which" > out 2> err || echo "ended with $?" >> err
        after=$(now)
    done
    echo "$before $after" | awk '{ print $2 - $1 }' > seconds
    energy "$code" > error 2> /dev/null
    [ -s error ] || echo none > error
    grep -a 'gravel_[a-z0-9]*:' err > log
    if grep -qa '^ended with' err || [ "$(cat error)" = none ]; then
        say "$code, $which: failed, see $here/err"
        return 1
    fi
}

model=$folder/src/ph4/src/amuse/community/ph4/src/plummer$bodies.in
done='' status=0
fetch ph4 || fail "$(package ph4), which has the initial conditions, cannot be had ($folder/out/ph4.pip)"
for name in $names; do
    need "${name%-*}" || { status=1; continue; }
    say "$name"
    for which in own gravel; do (run "$name" $which) || status=1; done
    done="$done $name"
done

printf '%-8s %-12s %6s %14s %14s %8s %8s %6s  %s\n' code library bodies 'energy, own' 'energy, gravel' 'own s' \
    'gravel s' ratio 'lines of gravel'
for name in $done; do
    own=$folder/run/$name.own gravel=$folder/run/$name.gravel
    case $name in
        nbody6xx) library=gravel_gpunb ;;
        rebound) library=gravel_g5 ;;
        *) library=gravel_g6 ;;
    esac
    awk -v name="$name" -v library=$library -v count=$count -v lines="$(wc -l < "$gravel/log")" \
        -v e="$(cat "$own/error")" -v f="$(cat "$gravel/error")" -v s="$(cat "$own/seconds")" \
        -v t="$(cat "$gravel/seconds")" 'BEGIN { printf "%-8s %-12s %6d %14s %14s %8.2f %8.2f %6.2f  %d\n", name, library,
            count, e == "none" ? e : sprintf("%.1e", e), f == "none" ? f : sprintf("%.1e", f), s, t, t / s, lines }'
done
[ "$status" = 0 ]
