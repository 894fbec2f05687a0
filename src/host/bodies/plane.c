/* The planes: where each is kept, in what unit. */
#include "host/bodies/bodies.h"

#define VECTOR(name, word, pair, squared)                                                                              \
    {                                                                                                                  \
        name, word, 0, 3, pair, GV_UNIT_LENGTH, squared                                                                \
    }
#define NUMBER(name, word, pair, unit)                                                                                 \
    {                                                                                                                  \
        name, word, 0, 1, pair, unit, 0                                                                                \
    }
#define USER(k) NUMBER("user plane " #k, GV_WORD_USER + k, 0, GV_UNIT_NONE)

static const gv_place places[GRAVEL_PLANES] = {
    [GRAVEL_MASS] = {"mass", GV_WORD_POSITION, 3, 1, 0, GV_UNIT_MASS, 0},
    [GRAVEL_ID] = NUMBER("id", GV_WORD_ID, 0, GV_UNIT_NONE),
    [GRAVEL_POSITION] = VECTOR("position", GV_WORD_POSITION, 1, 1),
    [GRAVEL_VELOCITY] = VECTOR("velocity", GV_WORD_VELOCITY, 1, 1),
    [GRAVEL_ACCELERATION] = VECTOR("acceleration", GV_WORD_ACCELERATION, 0, 1),
    [GRAVEL_JERK] = VECTOR("jerk", GV_WORD_JERK, 0, 0),
    [GRAVEL_SNAP] = VECTOR("snap", GV_WORD_SNAP, 0, 0),
    [GRAVEL_CRACKLE] = VECTOR("crackle", GV_WORD_CRACKLE, 0, 0),
    [GRAVEL_TIME] = NUMBER("time", GV_WORD_TIME, 1, GV_UNIT_NONE),
    [GRAVEL_STEP] = NUMBER("step", GV_WORD_STEP, 1, GV_UNIT_NONE),
    [GRAVEL_POTENTIAL] = NUMBER("potential", GV_WORD_POTENTIAL, 0, GV_UNIT_LENGTH_SQUARED),
    [GRAVEL_SOFTENING] = {"softening", GV_WORD_SOFTENING, 0, 1, 0, GV_UNIT_LENGTH, 1},
    [GRAVEL_RADIUS] = {"radius", GV_WORD_RADIUS, 0, 1, 0, GV_UNIT_LENGTH, 1},
    USER(0),
    USER(1),
    USER(2),
    USER(3),
    USER(4),
    USER(5),
    USER(6),
    USER(7),
};

const gv_place *gv_plane_place(gravel_plane plane)
{
    return (unsigned)plane < GRAVEL_PLANES ? &places[plane] : NULL;
}

const char *gravel_plane_name(gravel_plane plane)
{
    const gv_place *place = gv_plane_place(plane);
    return place ? place->name : "no plane";
}

int gravel_plane_components(gravel_plane plane)
{
    const gv_place *place = gv_plane_place(plane);
    return place ? place->components : 0;
}

size_t gv_word_size(const gravel_bodies *bodies, gv_word word)
{
    const size_t numbers = word <= GV_WORD_CRACKLE || word == GV_WORD_FAR ? 4 : 1;
    return numbers * (word != GV_WORD_ID && bodies->precision == GRAVEL_DP ? 8 : 4);
}
