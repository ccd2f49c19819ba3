//! The explorer alone, without the command line around it: `cargo run -p fabius-tui --example explore -- MODEL [KIND]`.

use fabius_base::Limits;
use fabius_engine::{Settings, load};
use fabius_tui::{LaunchOptions, Start, Theme, run};
use std::path::PathBuf;
use std::sync::Arc;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_default());
    let limits = Limits { memory_bytes_max: Some(2 << 30), ..Limits::default() };
    let settings = Settings { properties: arguments.collect(), limits, ..Settings::default() };
    let (file, wanted) = (path.clone(), settings.clone());
    let read = move |_: &fabius_base::Cancel| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        load(&file.display().to_string(), text, &[], &mut |_, _| None, &wanted)
    };
    run(Start {
        launch: LaunchOptions { path, settings, check: true, ..LaunchOptions::default() },
        read: Arc::new(read),
        theme: Theme::default(),
        mouse: true,
        editor: None,
        panic_key: None,
    })
}
