//! Compiles the generated parser and the scanner beside it.

fn main() {
    let sources = ["src/parser.c", "src/scanner.c"];
    for source in sources {
        println!("cargo:rerun-if-changed={source}");
    }
    cc::Build::new().std("c11").include("src").files(sources).warnings(false).compile("tree-sitter-promela");
}
