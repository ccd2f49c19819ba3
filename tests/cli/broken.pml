/* Two processes look before they announce themselves: both get in. */
bool flag[2];
byte inside;

active [2] proctype user()
{
  (flag[1 - _pid] == false);
  flag[_pid] = true;
  inside++;
  assert(inside == 1);
  inside--;
  flag[_pid] = false
}
