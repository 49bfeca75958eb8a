/** What was typed or chosen in a field of a form, without spaces at its ends; empty if there is no such field. */
export function textIn(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value.trim() : "";
}
