/* An elevator that plans where to go next: N people, FLOORS floors, room for all but one.
 *
 * In the manner of the elevators of the BEEM collection (Pelanek, 2007) and of planning competitions. The planner goes on in
 * one direction as long as somebody there waits or wants to get off, and then turns round.
 *
 * Holds: the cabin is never overloaded and never moves with an open door, and people arrive. With -DBUG a person
 * looks whether there is room, and steps in later. With -DLIVELOCK the planner thinks again at each floor and
 * prefers those behind it.
 */
#ifndef N
#define N 2
#endif
#ifndef FLOORS
#define FLOORS 4
#endif
#define ROOM (N - 1)

byte waiting[FLOORS], bound_for[FLOORS];        /* people, by floor */
byte calls;                                     /* people who wait */
byte cabin, load;
bool is_open;

active [N] proctype Person() {
    byte floor, to;

    do
    :: atomic {
            select(to : 1 .. FLOORS - 1);
            to = (floor + to) % FLOORS;
            waiting[floor]++;
            calls++
        };
#ifdef BUG
        is_open && cabin == floor && load < ROOM;
        atomic {
            is_open && cabin == floor ->
#else
        atomic {
            is_open && cabin == floor && load < ROOM ->
#endif
            load++;
            waiting[floor]--;
            calls--;
            bound_for[to]++
        };
        atomic {
            is_open && cabin == to ->
            load--;
            bound_for[to]--
        };
progress:
        floor = to
    od
}

#define IS_WANTED(floor) (bound_for[floor] > 0 || (waiting[floor] > 0 && load < ROOM))

active proctype Planner() {
    bool up = true, above, below;
    byte floor;

    do
    :: atomic {
            IS_WANTED(cabin) -> is_open = true
        };
        atomic {
            !IS_WANTED(cabin) -> is_open = false
        };
        assert(load <= ROOM)
    :: atomic {
            !IS_WANTED(cabin) ->
            above = false;
            below = false;
            for (floor : 0 .. FLOORS - 1) {
                if
                :: floor > cabin && IS_WANTED(floor) -> above = true
                :: floor < cabin && IS_WANTED(floor) -> below = true
                :: else
                fi
            };
            floor = 0
        };
        assert(!is_open);
        if
#ifdef LIVELOCK
        :: up && above && !below -> cabin++
        :: up && below -> up = false; cabin--
        :: !up && below && !above -> cabin--
        :: !up && above -> up = true; cabin++
#else
        :: up && above -> cabin++
        :: !up && below -> cabin--
        :: up && !above && below -> up = false
        :: !up && !below && above -> up = true
#endif
        :: !above && !below -> load + calls > 0
        fi
    od
}
