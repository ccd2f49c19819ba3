/* A USB hub with N ports: devices come and go, and each is given an address of its own.
 *
 * After the enumeration of devices in the USB 2.0 specification, section 9.1; Desai and others found errors of this kind in
 * a driver for USB 3.0 (PLDI 2013). A device that was reset answers at address 0 until it is told its address, so
 * only one port at a time may be reset. A device may be pulled out at any moment.
 *
 * Holds: never do two devices answer at address 0, and every device that stays is found. With -DBUG the driver of a port
 * lets the next one begin when its device was reset, and not only when that has its address.
 */
#ifndef N
#define N 2
#endif
#define NONE 255

mtype:change  = { attached, detached };
mtype:command = { reset, set_address };
mtype:answer  = { done, gone };

chan change[N]  = [2] of { mtype:change };
chan command[N] = [1] of { mtype:command };
chan answer[N]  = [1] of { mtype:answer };
byte at_zero;                           /* devices that answer at address 0 */
bool enumerating;

/* A port, with what is plugged into it. */
active [N] proctype Port() {
    byte me = _pid, address = NONE;
    bool there;

end:
    do
    :: !there && nfull(change[me]) -> there = true; change[me] ! attached
    :: there && nfull(change[me]) ->
        d_step {
            there = false;
            at_zero = at_zero - (address == 0);
            address = NONE
        };
        change[me] ! detached
    :: command[me] ? reset ->
        if
        :: there -> atomic { at_zero = at_zero + (address != 0); address = 0; assert(at_zero == 1) }; answer[me] ! done
        :: else  -> answer[me] ! gone
        fi
    :: command[me] ? set_address ->
        if
        :: there && address == 0 -> d_step { at_zero--; address = me + 1 }; answer[me] ! done
        :: else                  -> answer[me] ! gone
        fi
    od
}

active [N] proctype Driver() {
    byte me = _pid - N;
    mtype:answer got;

end:
    do
    :: change[me] ? detached
    :: change[me] ? attached ->
        atomic { !enumerating -> enumerating = true };
        command[me] ! reset;
        answer[me] ? got;
#ifdef BUG
        enumerating = false;
#endif
        if
        :: got == done ->
            command[me] ! set_address;
            answer[me] ? got
        :: else
        fi;
#ifndef BUG
        enumerating = false
#endif
    od
}
