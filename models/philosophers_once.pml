/* N philosophers eat once each. Everybody takes the fork on the left first, so all of them can be left waiting for
   the fork on the right: one execution of many, which `fabius executions` counts and shows. */

#ifndef N
#define N 4
#endif

#define left  _pid
#define right (_pid + 1) % N

bool taken[N];

active [N] proctype Philosopher() {
    atomic { !taken[left] -> taken[left] = true }
    atomic { !taken[right] -> taken[right] = true }
    taken[left] = false;
    taken[right] = false
}
