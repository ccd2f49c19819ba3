/* A semaphore without a queue: whoever comes first, takes it.
 *
 * Weak fairness is not enough for `gets_it`: the process that waits is not able to move all the time, only again
 * and again, whenever the semaphore is free. Under strong fairness it gets its turn:
 * fabius check --fairness strong models/semaphore.pml
 */
byte free = 1;
bool working[2];

active [2] proctype Worker() {
    do
    :: atomic { free > 0 -> free-- };
       working[_pid] = true;
       working[_pid] = false;
       free++
    od
}

ltl gets_it { [] <> working[0] }
