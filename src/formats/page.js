// The arrow keys walk through the steps of the run that was clicked last, and show where each step stands in the text; a picture of the
// model's own moves with them.
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
    const [, run, step] = /^(.*)t(\d+)$/.exec(row.id) ?? [];
    pictures.filter((picture) => picture.run === run).forEach((picture) => picture.after(Number(step)));
  };
  const apply = (element, attribute, value) => {
    if (attribute === "text") element.textContent = value ?? "";
    else if (attribute === "shown") element.setAttribute("display", value === null || value === "0" || value === "false" ? "none" : "inline");
    else {
      const name = attribute === "value" ? "data-value" : attribute;
      if (value === null) element.removeAttribute(name);
      else element.setAttribute(name, value);
    }
  };
  const pictureOf = (box) => {
    const { run, steps } = box.dataset;
    const bindings = JSON.parse(box.querySelector("script").textContent);
    const drawing = box.querySelector(".v-picture").shadowRoot;
    const output = box.querySelector("output");
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: "0", max: steps, value: steps, ariaLabel: "Step" });
    box.querySelector("p").append(" ", slider);
    const after = (step) => {
      output.textContent = String(step);
      slider.value = String(step);
      for (const { element, attribute, values } of bindings) {
        const now = values.findLast((value) => value.step <= step);
        const bound = drawing.querySelector(`[data-bound="${element}"]`);
        if (now && bound) apply(bound, attribute, now.value);
      }
    };
    slider.addEventListener("input", () => {
      const row = document.getElementById(`${run}t${slider.value}`);
      if (row) show(row);
      else after(Number(slider.value));
    });
    return { run, after };
  };
  // A browser that does not know shadow trees in the text of a page shows no picture.
  const pictures = [...document.querySelectorAll(".v-own")].filter((box) => box.querySelector(".v-picture").shadowRoot).map(pictureOf);
  document.querySelectorAll(".v-steps tr[id]").forEach((row) => {
    row.style.cursor = "pointer";
    row.addEventListener("click", (event) => { if (event.target.tagName !== "A") show(row); });
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!by || !here || event.target.tagName === "INPUT") return;
    event.preventDefault();
    let next = here[by];
    while (next && !next.id) next = next[by];
    if (next) show(next);
  });
})();
