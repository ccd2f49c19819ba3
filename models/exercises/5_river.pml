/* Exercise 5. A farmer takes a wolf, a goat and a cabbage across a river, one at a time; alone, the wolf eats the goat, and the
 * goat the cabbage. The formula says that they never arrive: a counterexample is a solution, so it is to be violated.
 *
 * There is no solution as it is, since one kind of crossing is missing. Add it, and read the solution.
 */
bool farmer, wolf, goat, cabbage; /* on the other side */

#define EATEN ((wolf == goat && farmer != goat) || (goat == cabbage && farmer != goat))
#define ARRIVED (farmer && wolf && goat && cabbage)

active proctype Cross() {
    do
    :: ARRIVED -> break
    :: EATEN -> break
    :: !EATEN && !ARRIVED ->
       atomic {
           if
           :: farmer == wolf -> wolf = !wolf
           :: farmer == goat -> goat = !goat
           :: farmer == cabbage -> cabbage = !cabbage
           fi;
           farmer = !farmer
       }
    od
}

ltl never_across { [] !(ARRIVED && !EATEN) }
