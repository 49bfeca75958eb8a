/** The fields of a submitted form by their names. */
import type { FormEvent } from "react";

/** Keeps the browser from loading a page, and gives what was typed. */
export function fieldsOf(event: FormEvent<HTMLFormElement>): Readonly<Record<string, string>> {
  event.preventDefault();
  const fields = Array.from(new FormData(event.currentTarget));
  return Object.fromEntries(
    fields.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}

/** A field of the form, without spaces at its ends. */
export function fieldOf(event: FormEvent<HTMLFormElement>, name: string): string {
  return fieldsOf(event)[name]?.trim() ?? "";
}
