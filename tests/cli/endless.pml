/* More states than anybody has room for. */
int a;
int b;

active proctype p()
{
  do
  :: a++
  :: b++
  od
}

active proctype q()
{
  do
  :: a > 0 -> a = a - 2
  od
}
