/* Each process waits for what the other one holds. */
chan fork[2] = [1] of { bit };

proctype philosopher(byte left; byte right)
{
  fork[left] ? _;
  fork[right] ? _;
  fork[right] ! 1;
  fork[left] ! 1
}

init
{
  fork[0] ! 1;
  fork[1] ! 1;
  run philosopher(0, 1);
  run philosopher(1, 0)
}
