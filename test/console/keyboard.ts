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
      if ((await this.#look()).isLost) await this.#goOnAtTheOtherEnd(key);
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

  /** What Enter does may take away what had the focus; then something else must get it. */
  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
    if (key === "Enter") await this.requireFocus();
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text);
  }

  /** Waits until the control has the focus by itself, as the first field of a dialog does. */
  async expectFocus(control: Locator): Promise<void> {
    await eventually(`the focus on ${control.toString()}`, () => this.#isFocused(control));
  }

  /** Waits until something has the focus, as it does not while a dialog closes. */
  async requireFocus(): Promise<void> {
    const { unmarked } = await eventually("the focus on something", async () => {
      // While the browser changes to another document there is none to look at.
      const seen = await this.#look().catch(() => null);
      return seen !== null && !seen.isLost && seen;
    });
    if (unmarked !== "") throw new Error(`the focus is not visible on ${unmarked}`);
  }

  /** @throws if the focus is on nothing, or on something without a mark */
  async requireVisibleFocus(): Promise<void> {
    const { isLost, unmarked } = await this.#look();
    if (isLost) throw new Error("the focus is on nothing");
    if (unmarked !== "") throw new Error(`the focus is not visible on ${unmarked}`);
  }

  /** Behind the last control of a page, Tab leads to the browser, and then to the first; where the focus was lost it does not. */
  async #goOnAtTheOtherEnd(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
    const isAtEnd = await this.#page.evaluate<boolean>(`(() => {
      const all = [...document.querySelectorAll("a[href], button, input, select, textarea, iframe, [tabindex]")];
      const reached = all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.getClientRects().length > 0);
      return document.activeElement === reached.at(${key === "Tab" ? 0 : -1});
    })()`);
    if (!isAtEnd) throw new Error(`the focus was lost, and ${key} went on within the page`);
  }

  async #look(): Promise<{ readonly isLost: boolean; readonly unmarked: string }> {
    return this.#page.evaluate(`(() => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return { isLost: true, unmarked: "" };
      // A page that was just opened has the focus as a whole, on its heading.
      if (focused.matches("main, h1")) return { isLost: false, unmarked: "" };
      const marked = (element) => {
        const { outlineStyle, outlineWidth, boxShadow, backgroundColor } = getComputedStyle(element);
        const isCurrent = element.matches("[data-focused]:is([role=option], [role=menuitem], [role=menuitemradio])");
        return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none" || (isCurrent && backgroundColor !== "rgba(0, 0, 0, 0)");
      };
      // A hidden input is marked on its label, the code editor and a mail on their frames; a list marks its current item.
      const frame = focused instanceof HTMLIFrameElement ? focused.parentElement.parentElement : focused;
      const places = [focused, focused.closest("label"), focused.parentElement, focused.closest(".cm-editor")?.parentElement, ...frame.querySelectorAll("[data-focused], [data-focus-visible]")];
      return { isLost: false, unmarked: places.some((place) => place && marked(place)) ? "" : focused.outerHTML.slice(0, 200) };
    })()`);
  }

  /** A control that an open list of suggestions hides has no focus. */
  async #isFocused(control: Locator): Promise<boolean> {
    if ((await control.count()) === 0) return false;
    return control.evaluate((element: { matches(selector: string): boolean }) => element.matches(":focus"));
  }
}
