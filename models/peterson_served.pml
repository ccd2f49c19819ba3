/* Peterson's algorithm again, with the question that mutual exclusion leaves open: who wants to enter, does so
 * at some time?
 *
 * Not under every scheduler: one that never lets a process move starves it. Under a scheduler that is weakly fair,
 * yes: fabius check --fairness weak models/peterson_served.pml
 */
bool wants[2];
bool inside[2];
byte turn;

active [2] proctype P() {
    do
    :: wants[_pid] = true;
       turn = 1 - _pid;
       (!wants[1 - _pid] || turn == _pid);
       inside[_pid] = true;
       inside[_pid] = false;
       wants[_pid] = false
    od
}

ltl exclusive { [] !(inside[0] && inside[1]) }
ltl served { [] (wants[0] -> <> inside[0]) }
