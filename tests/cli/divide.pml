byte x = 3;
byte y;

active proctype p()
{
  do
  :: x > 0 -> x--
  :: else -> break
  od;
  y = 12 / x
}
