/** A person without a mouse: moves by keys, and looks where the focus is. */
import type { Locator, Page } from "playwright-core";
import { eventually } from "#test/support/eventually.ts";

const MOST_STEPS = 80;

export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Presses Tab until the control has the focus; on the way the focus must be visible and may not be lost. */
  async tabTo(control: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    await control.waitFor();
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (await this.#isFocused(control)) return;
      await this.press(key);
      await this.requireVisibleFocus();
    }
    throw new Error(`${MOST_STEPS} times ${key} did not lead to ${control.toString()}`);
  }

  /** Moves to the control and presses Enter. */
  async enter(control: Locator): Promise<void> {
    await this.tabTo(control);
    await this.press("Enter");
  }

  /** Moves to the field and writes in it. */
  async fill(field: Locator, text: string): Promise<void> {
    await this.tabTo(field);
    await this.type(text);
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key);
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text);
  }

  /** Waits until the control has the focus by itself, as the first field of a dialog does. */
  async expectFocus(control: Locator): Promise<void> {
    await eventually(`the focus on ${control.toString()}`, () => this.#isFocused(control));
  }

  /** @throws if the focus is on nothing, or on something without a mark */
  async requireVisibleFocus(): Promise<void> {
    const found = await this.#page.evaluate<string>(`(() => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return "";
      const marked = (element) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
        return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
      };
      // A hidden input is marked on its label, the code editor on its frame; a list marks its current item.
      const places = [focused, focused.closest("label"), focused.parentElement, focused.closest(".cm-editor")?.parentElement, ...focused.querySelectorAll("[data-focused], [data-focus-visible]")];
      return places.some((place) => place && marked(place)) ? "" : focused.outerHTML.slice(0, 200);
    })()`);
    if (found !== "") throw new Error(`the focus is not visible on ${found}`);
  }

  /** A control that an open list of suggestions hides has no focus. */
  async #isFocused(control: Locator): Promise<boolean> {
    if ((await control.count()) === 0) return false;
    return control.evaluate((element: { matches(selector: string): boolean }) => element.matches(":focus"));
  }
}
