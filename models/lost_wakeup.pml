/* A sleeper that checks its condition, and then goes to sleep without holding the lock.
 *
 * Shows: a deadlock that needs one unlucky switch between two lines (a lost wake-up).
 */
bool ready, asleep, signalled;

active proctype Sleeper() {
    if
    :: ready
    :: !ready ->                /* the waker may run here */
        asleep = true;
        signalled -> asleep = false
    fi
}

active proctype Waker() {
    ready = true;
    if
    :: asleep -> signalled = true
    :: !asleep                  /* nobody to wake */
    fi
}
