/* A load balancer in a network of three switches with tables of where packets go next, and one packet. It enters at switch 1, which
 * does not know where it should go and asks the controller. The controller has entries installed along the way to one of two
 * replicas, in turns, then tells the switch to send the packet. Messages to a switch overtake each other: the packet can be
 * sent before its entry is there, and be lost, or go round in a loop. With -DBARRIER=1 the controller waits until all entries
 * are installed. */
#ifndef BARRIER
#define BARRIER 0
#endif
#define REPLICA 4                       /* from here on: the packet is there */

bit handle[4], ask[4], send[4];         /* by switch: what is to be done there */
bit seen[4];
byte table[4];                          /* the next switch, or the replica; 0 is unknown */
byte install[6], installing;            /* by entry */
byte at[6] = { 1, 2, 3, 1, 3, 2 };      /* its switch ... */
byte to[6] = { 2, 4, 1, 3, 5, 1 };      /* ... and where packets go next */
bit turn, looped, lost, arrived;

inline forward(s) {
  if
  :: table[s] == 0 -> lost = 1; assert(!lost)
  :: table[s] >= REPLICA -> arrived = 1
  :: else -> handle[table[s]] = 1
  fi
}

inline post(entry) {
  install[entry]++;
#if BARRIER
  installing++
#endif
}

/* A switch gets the packet. */
active [3] proctype Handle() {
end:
  do
  :: atomic { handle[_pid + 1] && seen[_pid + 1] -> handle[_pid + 1] = 0; looped = 1; assert(!looped) }
  :: atomic {
       handle[_pid + 1] && !seen[_pid + 1] -> handle[_pid + 1] = 0; seen[_pid + 1] = 1;
       if
       :: table[_pid + 1] == 0 -> ask[_pid + 1] = 1
       :: else -> forward(_pid + 1)
       fi
     }
  od
}

/* The controller is asked by a switch. */
inline tell(s) {
#if BARRIER
  installing == 0;
#endif
  send[s] = 1
}

active [3] proctype Control() {
end:
  do
  :: atomic {
       ask[_pid - 2] && !turn -> ask[_pid - 2] = 0; turn = 1;
       if
       :: _pid == 3 -> post(0); post(1)
       :: _pid == 4 -> post(1)
       :: else -> post(2); post(0); post(1)
       fi;
       tell(_pid - 2)
     }
  :: atomic {
       ask[_pid - 2] && turn -> ask[_pid - 2] = 0; turn = 0;
       if
       :: _pid == 3 -> post(3); post(4)
       :: _pid == 4 -> post(5); post(3); post(4)
       :: else -> post(4)
       fi;
       tell(_pid - 2)
     }
  od
}

/* A switch sends the packet that it kept. */
active [3] proctype Send() {
end:
  do
  :: atomic { send[_pid - 5] -> send[_pid - 5] = 0; forward(_pid - 5) }
  od
}

/* A switch installs an entry. */
active [6] proctype Install() {
end:
  do
  :: atomic {
       install[_pid - 9] -> install[_pid - 9]--; table[at[_pid - 9]] = to[_pid - 9];
#if BARRIER
       installing--
#endif
     }
  od
}

active proctype Main() { handle[1] = 1 }
