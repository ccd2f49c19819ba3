//! Consideration for whoever else uses the machine: work that nobody waits for runs at a lower priority, and is shorter on battery.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Where Linux lists what gives power.
const SUPPLIES: &str = "/sys/class/power_supply";
/// Power sources seldom change.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// Whether the computer runs on its battery, as far as the system says so; only Linux is asked.
pub fn on_battery() -> bool {
    static KNOWN: Mutex<Option<(Instant, bool)>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match *known {
        Some((asked, answer)) if asked.elapsed() < KNOWN_FOR => answer,
        _ => {
            let answer = cfg!(target_os = "linux") && is_on_battery(Path::new(SUPPLIES));
            *known = Some((Instant::now(), answer));
            answer
        }
    }
}

/// Whether, of the power supplies in a folder, a battery of the computer itself discharges and nothing else gives power. Batteries of
/// mice and the like (scope `Device`) do not count.
fn is_on_battery(supplies: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(supplies) else { return false };
    let (mut discharges, mut is_fed) = (false, false);
    for supply in entries.flatten() {
        let says = |file: &str| std::fs::read_to_string(supply.path().join(file)).unwrap_or_default();
        if says("type").trim() == "Battery" {
            discharges |= says("scope").trim() != "Device" && says("status").trim() == "Discharging";
        } else {
            is_fed |= says("online").trim() == "1";
        }
    }
    discharges && !is_fed
}

/// The priority of such work, as for `nice`.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// From now on the calling thread, and those that it starts, run where others do not need the processor. Only on Linux: elsewhere it would
/// be the whole process, which somebody waits for.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Ok(now) = rustix::process::getpriority_process(None) {
        // Where that is not allowed, it runs as before.
        let _ = rustix::process::setpriority_process(None, now.max(NICE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_battery_that_discharges_counts_unless_something_else_gives_power() {
        let folder = std::env::temp_dir().join(format!("fabius-power-{}", std::process::id()));
        let put = |supply: &str, file: &str, text: &str| {
            fs::create_dir_all(folder.join(supply)).expect("a folder");
            fs::write(folder.join(supply).join(file), format!("{text}\n")).expect("a file");
        };
        assert!(!is_on_battery(&folder), "nothing is known");
        put("hidpp_battery_0", "type", "Battery");
        put("hidpp_battery_0", "scope", "Device");
        put("hidpp_battery_0", "status", "Discharging");
        assert!(!is_on_battery(&folder), "the battery of a mouse");
        put("BAT0", "type", "Battery");
        put("BAT0", "status", "Discharging");
        assert!(is_on_battery(&folder));
        put("AC", "type", "Mains");
        put("AC", "online", "1");
        assert!(!is_on_battery(&folder), "at the mains");
        put("AC", "online", "0");
        assert!(is_on_battery(&folder));
        put("BAT0", "status", "Charging");
        assert!(!is_on_battery(&folder));
        fs::remove_dir_all(&folder).expect("the folder can be removed");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_the_thread_that_asks_for_it_gets_a_lower_priority() {
        let own = || rustix::process::getpriority_process(None).expect("a priority");
        let before = own();
        let given = std::thread::spawn(move || {
            lower_priority();
            let inherited = std::thread::spawn(own).join().expect("a thread");
            (own(), inherited)
        });
        assert_eq!(given.join().expect("a thread"), (before.max(NICE), before.max(NICE)));
        assert_eq!(own(), before);
    }
}
