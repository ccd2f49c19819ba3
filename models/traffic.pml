/* A crossing with two lights and a controller; written with macros and an inline.
 *
 * Shows: mtype values in traces, inline calls in places, `unless` for an emergency. Holds.
 */
mtype = { red, green };

mtype light[2] = red;
bool emergency;

#define both_green (light[0] == green && light[1] == green)

inline switch_to(side) {
    light[1 - side] = red;
    light[side] = green
}

active proctype Controller() {
    {
        do
        :: switch_to(0); assert(!both_green)
        :: switch_to(1); assert(!both_green)
        od
    } unless {
        emergency ->
            d_step { light[0] = red; light[1] = red }
    };
    assert(light[0] == red && light[1] == red)
}

active proctype Ambulance() {
    emergency = true
}
