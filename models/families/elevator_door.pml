/* The door of an elevator: a controller between N people who press buttons, a motor and a timer.
 *
 * After the elevator of Desai, Gupta, Jackson, Qadeer, Rajamani and Zufferey, "P: safe asynchronous event-driven
 * programming" (PLDI 2013). The door opens when asked to, closes some time later, and opens again if something is
 * in its way. In each state the controller must know what to do with every message that can come.
 *
 * Holds: no message comes that the controller does not expect, and the door does not swing without ever being
 * open or closed. With -DBUG the controller forgets that the timer may have rung before it could be stopped. With
 * -DLIVELOCK it asks again and again to stop a timer that has rung already.
 */
#ifndef N
#define N 2
#endif

mtype:button = { open_door, close_door };
mtype:motor  = { open, close, stop, is_open, is_closed, in_the_way, stopped };
mtype:alarm  = { start, cancel, cancelled, too_late, rings };

chan buttons = [N] of { mtype:button };
chan motor   = [1] of { mtype:motor };
chan alarm   = [1] of { mtype:alarm };
chan door    = [2] of { mtype:motor };          /* from the motor to the controller */
chan clock   = [2] of { mtype:alarm };          /* from the timer to the controller */
bool moving;

active [N] proctype Person() {
    buttons ! open_door;
    if
    :: buttons ! close_door
    :: skip
    fi
}

active proctype Motor() {
end:
    do
    :: motor ? open  -> assert(!moving); moving = true; skip; moving = false; door ! is_open
    :: motor ? close ->
        assert(!moving);
        moving = true;
        if
        :: moving = false; door ! is_closed
        :: moving = false; door ! in_the_way
        :: motor ? stop -> moving = false; door ! stopped
        fi
    :: motor ? stop -> door ! stopped           /* it stands still already */
    od
}

active proctype Timer() {
end:
    do
    :: alarm ? start ->
        if
        :: clock ! rings
        :: alarm ? cancel -> clock ! cancelled
        fi
    :: alarm ? cancel -> clock ! too_late
    od
}

active proctype Controller() {
    mtype:motor told;
    mtype:alarm answer;

end_closed:
    do
    :: buttons ? close_door
    :: buttons ? open_door -> break
    od;
opening:
    motor ! open;
    door ? told;
    assert(told == is_open);
progress_open:
    alarm ! start;
    do
    :: buttons ? open_door -> goto give_time    /* somebody else comes */
    :: buttons ? close_door -> break
    :: clock ? rings -> goto closing
    od;
    alarm ! cancel;
cancelling:
    clock ? answer;
#if defined(BUG)
    assert(answer == cancelled);
#elif defined(LIVELOCK)
    if
    :: answer == cancelled
    :: answer == rings    -> goto cancelling
    :: answer == too_late -> alarm ! cancel; goto cancelling
    fi;
#else
    if
    :: answer == cancelled
    :: answer == rings -> clock ? too_late      /* it rang before it heard that it should not */
    fi;
#endif
closing:
    assert(empty(clock));                       /* the timer is at rest */
    motor ! close;
    do
    :: door ? is_closed -> break
    :: door ? in_the_way -> goto opening
    :: buttons ? close_door
    :: buttons ? open_door ->
        motor ! stop;
        door ? told;
        if
        :: told == stopped
        :: else -> door ? stopped               /* it was there before it was told to stop */
        fi;
        goto opening
    od;
progress_closed:
    goto end_closed;
give_time:
    alarm ! cancel;
    if
    :: clock ? cancelled
    :: clock ? rings -> clock ? too_late
    fi;
    goto progress_open
}
