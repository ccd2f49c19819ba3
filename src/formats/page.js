// The arrow keys walk through the steps of the run that was clicked last, and show where each step stands in the text.
(() => {
  let here = null;
  const show = (row) => {
    document.querySelectorAll(".v-here").forEach((shown) => shown.classList.remove("v-here"));
    here = row;
    row.classList.add("v-here");
    row.scrollIntoView({ block: "nearest" });
    const link = row.querySelector("a[href^='#']");
    const line = link && document.getElementById(link.getAttribute("href").slice(1));
    if (line) line.classList.add("v-here");
  };
  document.querySelectorAll(".v-steps tr[id]").forEach((row) => {
    row.style.cursor = "pointer";
    row.addEventListener("click", (event) => { if (event.target.tagName !== "A") show(row); });
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!by || !here) return;
    event.preventDefault();
    let next = here[by];
    while (next && !next.id) next = next[by];
    if (next) show(next);
  });
})();
