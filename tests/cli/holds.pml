/* Peterson's algorithm: never two processes in the critical section. */
bool flag[2];
bool turn;
byte inside;

active [2] proctype user()
{
  do
  :: flag[_pid] = true;
     turn = 1 - _pid;
     (flag[1 - _pid] == false || turn == _pid);
     inside++;
     assert(inside == 1);
     inside--;
     flag[_pid] = false
  od
}
