// Drawings of the server as elements of a page. The page allows style with its nonce, or as objects, and already complains when other style is
// read: so style is text while a drawing is read. Where these characters stand in a drawing of the server, they begin an element or an
// attribute, since it escapes those of texts.

/** An element that the server leaves in no drawing. */
const RULES = "metadata";
/** An attribute that the server leaves in no drawing. */
const STYLE = "data-fabius-style";

/** The drawing, and its rules of style, which are to be adopted where it is shown. */
export function drawingOf(svg: string): { drawing: Element; sheets: CSSStyleSheet[] } {
  const withoutStyle = svg.replace(/<(\/?)style\b/g, `<$1${RULES}`).replace(/ style="/g, ` ${STYLE}="`);
  const parsed = new DOMParser().parseFromString(withoutStyle, "image/svg+xml");
  const drawing = document.importNode(parsed.documentElement, true);
  const sheets = [...drawing.querySelectorAll(RULES)].map((rules) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules.textContent);
    rules.remove();
    return sheet;
  });
  for (const styled of [drawing, ...drawing.querySelectorAll(`[${STYLE}]`)]) {
    const text = styled.getAttribute(STYLE);
    styled.removeAttribute(STYLE);
    if (text !== null && styled instanceof SVGElement) styled.style.cssText = text;
  }
  return { drawing, sheets };
}
