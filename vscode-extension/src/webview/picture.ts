// The drawing beside the model, as it moves along the run. The server has removed from it what does not draw; its rules of style are about
// nothing else in the panel.

import type { Binding, MovingPicture } from "../protocol";
import { isShown, valueAfter } from "../pure/picture";
import { el } from "./dom";

export interface OwnPicture {
  element: HTMLElement;
  /** Shows the state after a step. */
  after(step: number): void;
}

export function ownPicture(picture: MovingPicture): OwnPicture {
  const element = el("section", { class: "own", "aria-label": "Picture of the model" });
  const root = element.attachShadow({ mode: "open" });
  const drawing = document.importNode(new DOMParser().parseFromString(picture.svg, "image/svg+xml").documentElement, true);
  // The page allows style only with its nonce, or as objects.
  const sheets = [...drawing.querySelectorAll("style")].map((style) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style.textContent);
    style.remove();
    return sheet;
  });
  const size = new CSSStyleSheet();
  size.replaceSync("svg { max-width: 100%; height: auto; }");
  root.adoptedStyleSheets = [size, ...sheets];
  for (const styled of [drawing, ...drawing.querySelectorAll("[style]")]) {
    const text = styled.getAttribute("style");
    styled.removeAttribute("style");
    if (text !== null && styled instanceof SVGElement) styled.style.cssText = text;
  }
  root.append(drawing);
  const bound = picture.bindings.map((binding) => ({ binding, target: drawing.querySelector(`[data-bound="${binding.element}"]`) }));
  const after = (step: number): void => {
    for (const { binding, target } of bound) {
      const value = valueAfter(binding, step);
      if (target && value !== undefined) apply(target, binding, value);
    }
  };
  return { element, after };
}

function apply(target: Element, { attribute }: Binding, value: string | null): void {
  if (attribute === "text") target.textContent = value ?? "";
  else if (attribute === "shown") target.setAttribute("display", isShown(value) ? "inline" : "none");
  else {
    const name = attribute === "value" ? "data-value" : attribute;
    if (value === null) target.removeAttribute(name);
    else target.setAttribute(name, value);
  }
}
