//! Two machines that wait for searches, which are this one.

use fabius_cluster::remote::{Host, HostPool};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

pub struct Machines {
    machines: [(Child, String); 2],
}

impl Machines {
    pub fn start() -> Self {
        let machine = |_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
            command.args(["worker", "--listen", "127.0.0.1:0", "--processes", "3"]);
            let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the binary runs");
            let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
            let first = lines.next().expect("a line").expect("text");
            let address = first.split([' ', ',']).nth(2).expect("an address").to_owned();
            std::thread::spawn(move || lines.count());
            (child, address)
        };
        Self { machines: [0, 1].map(machine) }
    }

    /// So many processes, on both if they are several.
    pub fn pool(&self, processes: usize) -> HostPool {
        let shares = [processes.div_ceil(2), processes / 2];
        let host = |((_, address), processes): (&(Child, String), usize)| Host { address: address.clone(), processes };
        HostPool::new(self.machines.iter().zip(shares).map(host).filter(|host| 0 < host.processes).collect(), None)
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for (child, _) in &mut self.machines {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
