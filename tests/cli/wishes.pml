/* Safe; it has properties of other kinds. */
bool done;

active proctype p()
{
  do
  :: progress: done = !done
  od
}

ltl again { [] <> done }
