/* Kepler orbits of two points, G (m1 + m2) = mu, in the plane z = 0 with the pericentre on +x, counter-clockwise. */
#ifndef GV_IC_ORBIT_H
#define GV_IC_ORBIT_H

/* Position and velocity of the second relative to the first at this distance, approaching (at the apocentre: passing
 * it); 0 if the orbit does not reach so far in or out. */
int gv_orbit_at(double mu, double eccentricity, double pericentre, double distance, double x[3], double v[3]);

#endif
