// The drawing beside the model, as it moves along the run. The server has removed from it what does not draw; its rules of style are about
// nothing else in the panel.

import type { Binding, MovingPicture } from "../protocol";
import { isShown, valueAfter } from "../pure/picture";
import { el } from "./dom";

/** An element that the server leaves in no drawing. */
const RULES = "metadata";
/** An attribute that the server leaves in no drawing. */
const STYLE = "data-fabius-style";

export interface OwnPicture {
  element: HTMLElement;
  /** Shows the state after a step. */
  after(step: number): void;
}

export function ownPicture(picture: MovingPicture): OwnPicture {
  const element = el("section", { class: "own", "aria-label": "Picture of the model" });
  const root = element.attachShadow({ mode: "open" });
  const parsed = new DOMParser().parseFromString(withoutStyle(picture.svg), "image/svg+xml");
  const drawing = document.importNode(parsed.documentElement, true);
  const sheets = [...drawing.querySelectorAll(RULES)].map((rules) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules.textContent);
    rules.remove();
    return sheet;
  });
  const size = new CSSStyleSheet();
  size.replaceSync("svg { max-width: 100%; height: auto; }");
  root.adoptedStyleSheets = [size, ...sheets];
  for (const styled of [drawing, ...drawing.querySelectorAll(`[${STYLE}]`)]) {
    const text = styled.getAttribute(STYLE);
    styled.removeAttribute(STYLE);
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

/**
 * The drawing with its style where it is only text: the page allows style with its nonce, or as objects, and already complains when other
 * style is read. Where these characters stand in a drawing of the server, they begin an element or an attribute, since it escapes those of texts.
 */
function withoutStyle(svg: string): string {
  return svg.replace(/<(\/?)style\b/g, `<$1${RULES}`).replace(/ style="/g, ` ${STYLE}="`);
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
