/* Two processes that back off and try again, in step with each other, for ever.
 *
 * No deadlock and no failing assertion: safety holds. But there is a run in which nobody ever gets
 * on, a livelock: the `progress` label is never passed. Also states it as a formula.
 */
bool trying[2];
byte served;

active [2] proctype Polite() {
    byte me = _pid;

    do
    :: trying[me] = true;
       if
       :: trying[1 - me] -> trying[me] = false      /* after you */
       :: else ->
progress:  served = 1 - served;
           trying[me] = false
       fi
    od
}

ltl gets_on { []<> (served == 1) }
