//! A real editor: headless Neovim opens a model, sees the assertion, mends it, and sees it go.

use super::FAILING;
use std::path::Path;
use std::process::Command;

#[test]
fn neovim_shows_the_assertion_and_sees_it_go() {
    if !fabius_needs::Need::Neovim.met() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("fabius-neovim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let model = folder.join("model.pml");
    std::fs::write(&model, FAILING).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/editor/neovim.lua");
    let output = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-n", "-c"])
        .arg(format!("luafile {}", script.display()))
        .env("FABIUS", env!("CARGO_BIN_EXE_fabius"))
        .env("MODEL", &model)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .current_dir(&folder)
        .output()
        .unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.contains("mended"), "{told}");
    std::fs::remove_dir_all(&folder).unwrap();
}
