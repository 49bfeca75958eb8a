/** Says a text to screen readers, once, without moving the focus. */
const region = document.createElement("div");
region.setAttribute("role", "status");
region.style.cssText =
  "position:fixed;top:0;left:0;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
document.body.append(region);

export function say(text: string): void {
  region.textContent = "";
  // A screen reader reads a change; the same text twice is none.
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
