/* A driver whose device is being removed while N requests come in.
 *
 * After the Bluetooth driver of Qadeer and Wu, "KISS: keep it simple and sequential" (PLDI 2004): each request counts
 * itself in and out; who stops the driver forbids new ones and waits until the last has gone.
 *
 * Holds: no request works with a driver that has stopped. With -DBUG, as in the driver that was shipped, a
 * request looks first whether it may begin, and counts itself in afterwards.
 */
#ifndef N
#define N 3
#endif

byte pending = 1;                       /* requests, and the driver itself */
bool stopping, last_has_gone, stopped;

inline count_out() {
    atomic {
        pending--;
        last_has_gone = last_has_gone || pending == 0
    }
}

active [N] proctype Request() {
#ifdef BUG
    if
    :: stopping -> goto refused
    :: else
    fi;
    pending++;
#else
    pending++;
    if
    :: stopping -> goto over
    :: else
    fi;
#endif
    assert(!stopped);                   /* work */
over:
    count_out();
refused:
    skip
}

active proctype Stop() {
    stopping = true;
    count_out();
    last_has_gone;
    stopped = true
}
