/* gravel: what programs written against Sapporo2 include; see gravel/sapporo.hpp.
 *
 *     g++ -I/usr/local/include/gravel/compat program.cpp -lgravel
 *
 * Sapporo2's header brings the standard headers and the names of std along, and declares a get_time that programs
 * define; so this one does. */
#ifndef GRAVEL_SAPPOROHOSTCLASS_H
#define GRAVEL_SAPPOROHOSTCLASS_H

#ifdef __cplusplus

#include <assert.h>
#include <iostream>
#include <map>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <vector>

#include "../sapporo.hpp"

using namespace std;

double get_time();

#endif
#endif
