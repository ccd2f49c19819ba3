/* Exercise 4. Whoever presses the button gets green. The light is right, the formula is not: it asks for green at the very
 * moment of pressing.
 *
 * Write the formula that says what is meant: after each pressing there comes green at some time.
 */
bool pressed;
bool green;

active proctype Walker() {
    byte times;
    do
    :: times < 3 && !pressed && !green -> pressed = true; times++
    :: times == 3 -> break
    od
}

active proctype Light() {
end:
    do
    :: pressed -> green = true; pressed = false; green = false
    od
}

ltl served { [] (pressed -> green) }
