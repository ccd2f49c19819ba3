// The drawing beside the model, as it moves along the run. The server has removed from it what does not draw; its rules of style are about
// nothing else in the panel.

import type { Binding, MovingPicture } from "../protocol";
import { isShown, valueAfter } from "../pure/picture";
import { el } from "./dom";
import { drawingOf } from "./drawing";

export interface OwnPicture {
  element: HTMLElement;
  /** Shows the state after a step. */
  after(step: number): void;
}

export function ownPicture(picture: MovingPicture): OwnPicture {
  const element = el("section", { class: "own", "aria-label": "Picture of the model" });
  const root = element.attachShadow({ mode: "open" });
  const { drawing, sheets } = drawingOf(picture.svg);
  const size = new CSSStyleSheet();
  size.replaceSync("svg { max-width: 100%; height: auto; }");
  root.adoptedStyleSheets = [size, ...sheets];
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
